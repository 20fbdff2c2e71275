/** Uploads a batch of files: a few at a time, one request each, so that none costs another. */
import { ApiError, authorization, documentUrl, refusal, UNREACHABLE } from "./api.js";
import { size } from "./format.js";
import { settings } from "./interface.js";

const AT_ONCE = 3;
// Browsers guess types from names, and some guesses are wrong (`.ts` is no video): the rest is the
// server's to find out.
const TRUSTED = /^(text\/|application\/(pdf|json|xml|xhtml|epub|vnd\.openxmlformats|vnd\.oasis))/;

/**
 * `onProgress(index, fraction)` and `onOutcome(index, {outcome, detail, notices})` are called for
 * the files `{source, path, file}`; `outcome` is the server's word, or `refused`.
 */
export async function uploadAll(files, onProgress, onOutcome) {
  const waiting = files.entries();
  const work = async () => {
    for (const [index, file] of waiting) {
      const progress = (fraction) => onProgress(index, fraction);
      onOutcome(index, await upload(file, progress).catch(refused));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

function refused(error) {
  return { outcome: "refused", detail: error.message, notices: [] };
}

async function upload({ source, path, file }, onProgress) {
  const most = settings().max_document_bytes;
  if (file.size > most) {
    throw new ApiError(413, "too_large", `${path} is larger than ${size(most)}, the most that is taken.`);
  }
  const { status, body } = await put(documentUrl(source, path), file, onProgress);
  if (status < 200 || status > 299) throw refusal(status, body);
  return JSON.parse(body);
}

/** fetch tells no progress of a request's body. */
function put(url, file, onProgress) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("PUT", url);
    for (const [header, value] of Object.entries(authorization())) request.setRequestHeader(header, value);
    request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 1);
    request.onload = () => resolve({ status: request.status, body: request.responseText });
    request.onerror = () => reject(new ApiError(0, "unreachable", UNREACHABLE));
    request.send(TRUSTED.test(file.type) ? file : file.slice(0, file.size, ""));
  });
}
