// The URL of a stream with its edits, in the form of the server and the command line.

import { offlineURL } from './api.js';

/** The name, in a playback URL, of the conditions of all streams without conditions. */
export const sharedConditions = 'default';

/** Returns "LOW...HIGH", in which either limit can be empty, or an empty string without any limit. */
export function bandwidthRange(minimum, maximum) {
    return minimum || maximum ? `${minimum}...${maximum}` : '';
}

/**
 * Returns the playback URL of the stream that `selection` describes.
 *
 * `edits`, `segments` and `redundant` are the values of `PlaybackEdits`, `conditions` the name of the network conditions or empty, and
 * `link` the identifier of the link over which the stream is sent, or `undefined` for that of all players with the same URL. The edits of
 * the catalog are applied first. Edits do not apply to an offline copy, since the server only edits streams of an origin.
 */
export function playbackURL(selection, { edits, segments, redundant }, conditions, link) {
    const ofNetwork = Object.entries({ conditions, link }).filter(([, value]) => value);
    if (selection.origin === 'offline') return [offlineURL(selection), queryText(ofNetwork)].filter(Boolean).join('?');
    const ofCatalog = selection.edits.map(({ name, value }) => [name, value]);
    const parameters = [['url', selection.source], ...ofCatalog, ...edits];
    if (segments) parameters.push(['segments', segments]);
    if (redundant) parameters.push(['redundant', redundant]);
    return `/play.m3u8?${queryText([...parameters, ...ofNetwork])}`;
}

function queryText(parameters) {
    return parameters.map(([name, value]) => (value ? `${name}=${encodeURIComponent(value)}` : name)).join('&');
}

/** Returns the URL of the source in a playback URL, or the absolute playback URL if it has none. */
export function sourceURL(url) {
    const { href, searchParams } = new URL(url, location.href);
    return searchParams.get('url') ?? href;
}

/** Returns the playback URL for a saved playlist, whose URIs must be absolute. */
export function savedPlaylistURL(url) {
    return `${url}${url.includes('?') ? '&' : '?'}absolute=1`;
}
