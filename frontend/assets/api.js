/** Calls to the server: one way to ask, one kind of error. */
import { askForToken, token } from "./token.js";

/** A refusal by the server, or (status 0) no answer at all; the message is for a person. */
export class ApiError extends Error {
  constructor(status, code, detail) {
    super(detail);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

export const UNREACHABLE = "The server cannot be reached. Check the connection, then try again.";

/** The headers that every request carries. */
export function authorization() {
  const known = token();
  return known ? { Authorization: `Bearer ${known}` } : {};
}

/** `api/documents/…` of one document: each segment is escaped, the slashes stay. */
export function documentUrl(source, path) {
  const segments = [source, ...path.split("/")];
  return `api/documents/${segments.map(encodeURIComponent).join("/")}`;
}

/** Answers the response when it is a success; throws ApiError, or AbortError when aborted. */
export async function send(url, { method = "GET", json, headers, signal } = {}) {
  const init = { method, signal, headers: { ...authorization(), ...headers } };
  if (json !== undefined) {
    init.headers["Content-Type"] = "application/json";
    init.body = JSON.stringify(json);
  }
  let response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "unreachable", UNREACHABLE);
  }
  if (response.ok) return response;
  throw refusal(response.status, await response.text().catch(() => ""));
}

export async function getJson(url, options) {
  return (await send(url, options)).json();
}

/** The error behind a status and a body, which may be anything; a 401 asks for the token. */
export function refusal(status, body) {
  if (status === 401) askForToken();
  try {
    const { error, detail } = JSON.parse(body);
    if (typeof detail === "string") return new ApiError(status, error, detail);
  } catch {
    // Not our JSON: a proxy's page, or a cut body.
  }
  return new ApiError(status, "unexpected", `The server answered with status ${status}.`);
}
