/** A refusal of the server. Branch on `type`, never on the texts. */
export class ProblemError extends Error {
  override readonly name = "ProblemError";
  constructor(
    /** The last part of the problem's type, such as `unknown-queue`. */
    readonly type: string,
    readonly status: number,
    readonly detail: string,
    /** The whole document, with the fields of its type. */
    readonly document: Record<string, unknown>,
  ) {
    super(`${type} (${status}): ${detail}`);
  }

  /** Every field that is wrong. */
  get errors(): { field: string; reason: string }[] {
    return (this.document["errors"] as { field: string; reason: string }[] | undefined) ?? [];
  }

  /** Whether the same request may succeed later, or on another server. */
  get isTransient(): boolean {
    return this.status >= 500 || [408, 421, 429].includes(this.status);
  }

  static async of(response: Response): Promise<ProblemError> {
    const text = await response.text().catch(() => "");
    try {
      const document = JSON.parse(text) as Record<string, unknown>;
      const type = String(document["type"] ?? "unknown").replace(/.*\//, "");
      return new ProblemError(type, response.status, String(document["detail"] ?? text), document);
    } catch {
      return new ProblemError("unknown", response.status, text.slice(0, 200), {});
    }
  }
}

/** No server answered. The request may or may not have taken effect. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}
