/** What a store's files gave: every record is a row, a dropped copy, a replaced snapshot, an empty part, a header or a bad line. */
export class Tally {
  files = 0
  bytes = 0
  /** JSON records read: lines, or whole files. */
  records = 0
  /** Records that describe their file and give no row of their own. */
  headers = 0
  rows = 0
  /** Rows left out because messages.jsonl holds the same event, or a fork copied them. */
  dropped = 0
  /** Rows that a fork copied; they stay, marked. */
  copied = 0
  /** Records that a later snapshot of the same message replaces. */
  replaced = 0
  /** Parts without text, and records that hold nothing to show. */
  empty = 0
  /** Lines and files with something that could not be read. */
  bad = 0
  readonly unknownFields = new Map<string, number>()

  unknownField(field: string): void {
    this.unknownFields.set(field, (this.unknownFields.get(field) ?? 0) + 1)
  }

  /** A copy of the numbers, to go back to when a file is read a second time. */
  mark(): () => void {
    const { files, bytes, records, headers, rows, dropped, copied, replaced, empty, bad } = this
    const fields = new Map(this.unknownFields)
    return () => {
      Object.assign(this, { files, bytes, records, headers, rows, dropped, copied, replaced, empty, bad })
      this.unknownFields.clear()
      for (const [field, count] of fields) this.unknownFields.set(field, count)
    }
  }

  toJSON() {
    const { files, bytes, records, headers, rows, dropped, copied, replaced, empty, bad } = this
    return {
      files,
      bytes,
      records,
      headers,
      rows,
      dropped,
      copied,
      replaced,
      empty,
      bad,
      unknown_fields: Object.fromEntries(this.unknownFields),
    }
  }
}
