/** Which line first held each message id of a file, and which lines hold it again as later snapshots. */
export class Snapshots {
  /** Ids of the usual form, `ui-msg-<n>`, by their number: a large file has very many. */
  readonly #byNumber = new Map<string, Numbers>()
  readonly #byId = new Map<string, number>()
  readonly #repeats = new Map<string, number[]>()

  /** Whether some message stands on more than one line. */
  get found(): boolean {
    return this.#repeats.size > 0
  }

  note(id: string, line: number): void {
    if (id === '') return
    const first = this.#first(id, line)
    if (first === line) return
    const repeats = this.#repeats.get(id)
    if (!repeats) this.#repeats.set(id, [first, line])
    else if (repeats.at(-1) !== line) repeats.push(line)
  }

  /** For the line of each last snapshot, the lines that it replaces. */
  replaces(): Map<number, readonly number[]> {
    return new Map([...this.#repeats.values()].map((lines) => [lines.at(-1)!, lines.slice(0, -1)]))
  }

  /** The line that first held this id, which is this one when it is new. */
  #first(id: string, line: number): number {
    const digits = trailingDigits(id)
    return digits === 0 ? noteIn(this.#byId, id, line) : this.#numbers(id.slice(0, -digits)).note(Number(id.slice(-digits)), line)
  }

  #numbers(prefix: string): Numbers {
    let numbers = this.#byNumber.get(prefix)
    if (!numbers) this.#byNumber.set(prefix, (numbers = new Numbers()))
    return numbers
  }
}

/** Lines by number, for numbers that mostly grow: those lie in order and need no table. */
class Numbers {
  readonly #growing: number[] = []
  readonly #lines: number[] = []
  readonly #others = new Map<number, number>()

  note(number: number, line: number): number {
    const largest = this.#growing.at(-1)
    if (largest === undefined || number > largest) {
      this.#growing.push(number)
      this.#lines.push(line)
      return line
    }
    const at = this.#find(number)
    return this.#growing[at] === number ? this.#lines[at]! : noteIn(this.#others, number, line)
  }

  /** The place of the first number that is not smaller. */
  #find(number: number): number {
    let low = 0
    let high = this.#growing.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#growing[middle]! < number) low = middle + 1
      else high = middle
    }
    return low
  }
}

function noteIn<K>(lines: Map<K, number>, id: K, line: number): number {
  const first = lines.get(id)
  if (first !== undefined) return first
  lines.set(id, line)
  return line
}

/** How many digits end an id, where they are a number that prints as those digits; else 0. */
function trailingDigits(id: string): number {
  let at = id.length
  while (at > 0 && id.length - at < 10 && isDigit(id.charCodeAt(at - 1))) at--
  while (at < id.length - 1 && id.charCodeAt(at) === 48) at++
  const digits = id.length - at
  return digits < 10 ? digits : 0
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}
