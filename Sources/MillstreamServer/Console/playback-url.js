// The URL of a stream with its edits, in the form of the server and the command line.

import { offlineURL } from './api.js';

/** Returns "LOW...HIGH", in which either limit can be empty, or an empty string without any limit. */
export function bandwidthRange(minimum, maximum) {
    return minimum || maximum ? `${minimum}...${maximum}` : '';
}

/**
 * Returns the playback URL of the stream that `selection` describes.
 *
 * `edits` and `segments` are the values of `PlaybackEdits`, `conditions` the name of the network conditions or empty. The edits
 * of the catalog are applied first. Edits do not apply to an offline copy, since the server only edits streams of an origin.
 */
export function playbackURL(selection, { edits, segments }, conditions) {
    if (selection.origin === 'offline') {
        const url = offlineURL(selection);
        return conditions ? `${url}?conditions=${encodeURIComponent(conditions)}` : url;
    }
    const ofCatalog = selection.edits.map(({ name, value }) => [name, value]);
    const parameters = [['url', selection.source], ...ofCatalog, ...edits];
    if (segments) parameters.push(['segments', segments]);
    if (conditions) parameters.push(['conditions', conditions]);
    const query = parameters.map(([name, value]) => (value ? `${name}=${encodeURIComponent(value)}` : name));
    return `/play.m3u8?${query.join('&')}`;
}

/** Returns the `url` by which the server identifies the network conditions of a stream. */
export function conditionsURL(selection) {
    return selection.origin === 'offline' ? offlineURL(selection) : selection.source;
}

/** Returns the playback URL for a saved playlist, whose URIs must be absolute. */
export function savedPlaylistURL(url) {
    return `${url}${url.includes('?') ? '&' : '?'}absolute=1`;
}
