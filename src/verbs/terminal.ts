/** Colour only on a terminal, and never when NO_COLOR is set (no-color.org). */
export function wantsColor(): boolean {
  return process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== 'dumb'
}

/** Columns of the terminal; where there is none, COLUMNS, else a width that reads well. */
export function terminalWidth(elsewhere = 100): number {
  return process.stdout.columns ?? (Number(process.env.COLUMNS) || elsewhere)
}
