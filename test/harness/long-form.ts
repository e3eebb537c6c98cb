/**
 * Some tests have a short form, which `npm test` plays, and a long one: more stages, more seeds, more bytes.
 * `LONG_FORM=1 npm test -- <file>` plays the long form of one file, `npm run proofs` that of all.
 */
export const isLongForm = process.env.LONG_FORM === "1";
