{{- define "keeper.name" -}}
{{- printf "%s" .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "keeper.labels" -}}
app.kubernetes.io/name: keeper
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{- define "keeper.selector" -}}
app.kubernetes.io/name: keeper
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "keeper.embedded" -}}
{{- if eq (default "embedded" .Values.config.store.url) "embedded" -}}yes{{- end -}}
{{- end -}}

{{- define "keeper.scheme" -}}
{{- if .Values.tlsSecret -}}HTTPS{{- else -}}HTTP{{- end -}}
{{- end -}}
