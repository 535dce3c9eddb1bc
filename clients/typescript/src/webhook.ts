/** Why a webhook was not believed. */
export class InvalidWebhookError extends Error {
  override readonly name = "InvalidWebhookError";
}

/**
 * Verifies a push of Sessionkeeper by the rules of Standard Webhooks, before its body is parsed.
 *
 * @param headers of the request; names in any case
 * @param body the bytes as they came
 * @param secret the secret of the bot, as configured
 * @param toleranceSeconds how old the request may be
 */
export async function verifyWebhook(
  headers: Headers | Record<string, string>,
  body: string | Uint8Array,
  secret: string,
  toleranceSeconds = 300,
): Promise<void> {
  const get = (name: string): string => new Headers(headers as HeadersInit).get(name) ?? "";
  const [id, timestamp] = [get("webhook-id"), get("webhook-timestamp")];
  const age = Math.abs(Date.now() / 1_000 - Number(timestamp));
  if (id === "" || !/^\d+$/.test(timestamp)) throw new InvalidWebhookError("The webhook headers are missing");
  if (age > toleranceSeconds) throw new InvalidWebhookError("The webhook is too old");
  const encoder = new TextEncoder();
  const bytes = typeof body === "string" ? encoder.encode(body) : body;
  const key = secret.startsWith("whsec_")
    ? Uint8Array.from(atob(secret.slice(6)), (c) => c.charCodeAt(0))
    : encoder.encode(secret);
  const signed = new Uint8Array([...encoder.encode(`${id}.${timestamp}.`), ...bytes]);
  const usage: KeyUsage[] = ["verify"];
  const imported = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, usage);
  for (const signature of get("webhook-signature").split(" ")) {
    const [version, text] = signature.split(",", 2);
    if (version !== "v1" || !text || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) continue;
    const given = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    // The platform compares in constant time.
    if (await crypto.subtle.verify("HMAC", imported, given, signed)) return;
  }
  throw new InvalidWebhookError("No signature matches");
}
