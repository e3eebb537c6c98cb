/** Who a bearer token stands for. */
export interface Authenticator {
  /** The principal of a bearer token; undefined: none or wrong. */
  principalOf(token: string | undefined): Promise<string | undefined>;
}
