// Requests to the API of the server (docs/formats/console-api.md).

/** An error response of the server, or a failure to reach it. */
export class ServerError extends Error {
    constructor({ code = 'unknown', message, hint }, status = 0) {
        super(message);
        this.name = 'ServerError';
        this.code = code;
        this.hint = hint;
        this.status = status;
    }
}

/** Returns the error that a response describes, or a generic one if its body has no error. */
export async function parseError(response) {
    try {
        const { error } = await response.json();
        if (typeof error?.message === 'string') return new ServerError(error, response.status);
    } catch {
        // Not JSON: the response may come from a proxy in front of the server.
    }
    return new ServerError({ message: `The server responded with status ${response.status}.` }, response.status);
}

async function request(method, path, body) {
    const options = { method, headers: { Accept: 'application/json' } };
    if (body !== undefined) {
        options.headers['Content-Type'] = 'application/json';
        options.body = JSON.stringify(body);
    }
    let response;
    try {
        response = await fetch(path, options);
    } catch {
        throw unreachableError();
    }
    if (!response.ok) throw await parseError(response);
    if (response.status === 204) return undefined;
    try {
        return await response.json();
    } catch {
        throw new ServerError({ message: 'The server response is not valid JSON.' }, response.status);
    }
}

/** Returns the error for a server that does not respond. */
export function unreachableError() {
    return new ServerError({
        code: 'unreachable',
        message: 'The server is not responding.',
        hint: 'Check that “millstream serve” is still running.',
    });
}

/** Returns the error for a response that is not complete. */
export function interruptionError() {
    return new ServerError({
        code: 'interrupted',
        message: 'The transfer from the server ended before it was complete.',
        hint: 'The origin or a simulated fault can be the cause.',
    });
}

export async function fetchStreams() {
    return (await request('GET', '/api/streams')).streams ?? [];
}

export async function fetchAssets() {
    return (await request('GET', '/api/library')).assets ?? [];
}

/** Fetches the definitions of the edits that the server applies: `{edits, limits}`. */
export function fetchEdits() {
    return request('GET', '/api/edits');
}

/** Fetches whether the server admits only signed playback URLs. */
export async function fetchRequiresSignature() {
    return (await request('GET', '/api/signing')).required;
}

/** Fetches the playback URL that a server which admits only signed URLs accepts, or that of a media file. */
export async function fetchSignedURL(url, { isFile }) {
    const kind = isFile ? '&kind=file' : '';
    return (await request('GET', `/api/playback-address?address=${encodeURIComponent(url)}${kind}`)).address;
}

/** The time for which a response is awaited that only tells whether a playback URL is refused. */
const refusalMilliseconds = 15_000;

/** Returns the error with which the server refuses a playback URL, or `undefined` if it delivers the playlist. */
export async function fetchRefusal(url) {
    const response = await fetch(url, { signal: AbortSignal.timeout(refusalMilliseconds) });
    if (!response.ok) return parseError(response);
    await response.body?.cancel();
    return undefined;
}

/** Fetches the report of a playlist: its variants, renditions and diagnostics; `{kind: "file"}` for a media file. */
export function inspectStream(source) {
    return request('GET', `/api/inspect?url=${encodeURIComponent(source)}`);
}

export function startDownload({ url, title, variants, maxHeight }) {
    return request('POST', '/api/downloads', { url, title, variants, maxHeight });
}

/** Pauses a download until it is resumed. */
export function pauseDownload(id) {
    return request('POST', `/api/downloads/${encodeURIComponent(id)}/pause`);
}

/** Resumes a download that is paused. */
export function resumeDownload(id) {
    return request('POST', `/api/downloads/${encodeURIComponent(id)}/resume`);
}

/** Cancels a download; the downloaded files are preserved. */
export function cancelDownload(id) {
    return request('DELETE', `/api/downloads/${encodeURIComponent(id)}`);
}

/** Fetches the names of network conditions and the conditions in effect: `{presets, shared, links}`. */
export function fetchConditions() {
    return request('GET', '/api/conditions');
}

/**
 * Changes the network conditions of the link with the identifier `link` during playback; “default” stands for those of all
 * streams without conditions. Without `link`, the change applies to these streams.
 */
export function changeConditions({ link, conditions }) {
    return request('PUT', '/api/conditions', { link, conditions });
}

export function deleteAsset(id) {
    return request('DELETE', `/api/library/${encodeURIComponent(id)}`);
}

/** Returns the URL of the image that represents an asset; `undefined` if it has none. */
export function artworkURL({ id, artwork }) {
    return artwork && `/api/library/${encodeURIComponent(id)}/artwork`;
}

/** Fetches the disk space of each asset, and the assets that have to be deleted to make `need` bytes available. */
export function fetchStorage(need) {
    return request('GET', `/api/storage?need=${need}`);
}

/** Deletes the assets that `fetchStorage` lists for `need` bytes: `{evicted, freed, shortfall, insufficient}`. */
export function evictAssets(need) {
    return request('POST', `/api/storage/evictions?need=${need}`);
}

/** Changes the storage policy of an asset: `{pinned, priority, expires}`; what is absent stays. */
export function changeStoragePolicy(id, changes) {
    return request('PUT', `/api/library/${encodeURIComponent(id)}/policy`, changes);
}

/** Returns the URL of an offline copy. A browser decides by the name whether it expects a playlist or a media file. */
export function offlineURL({ asset, isFile }) {
    return `/offline/${encodeURIComponent(asset)}/${isFile ? 'file' : 'multivariant.m3u8'}`;
}

/** Fetches the faults that the server simulates. */
export async function fetchFaults() {
    return (await request('GET', '/api/faults')).faults;
}

/** Replaces the faults that the server simulates, and returns them. */
export async function changeFaults(faults) {
    return (await request('PUT', '/api/faults', { faults })).faults;
}
