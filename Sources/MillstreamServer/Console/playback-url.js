// The URL of a stream with its edits, in the form of the server and the command line.

import { offlinePlaylistURL } from './api.js';

/** Returns "LOW...HIGH", in which either limit can be empty, or an empty string without any limit. */
export function bandwidthRange(minimum, maximum) {
    return minimum || maximum ? `${minimum}...${maximum}` : '';
}

/**
 * Returns the playback URL of the stream that `selection` describes.
 *
 * `edits` is `{minimumBandwidth, maximumBandwidth, duration, append, proxy}`, `conditions` the name of the network
 * conditions or empty. Edits do not apply to an offline copy, since the server only edits streams of an origin.
 */
export function playbackURL(selection, edits, conditions) {
    if (selection.origin === 'offline') {
        const url = offlinePlaylistURL(selection.asset);
        return conditions ? `${url}?conditions=${encodeURIComponent(conditions)}` : url;
    }
    const parameters = [['url', selection.source]];
    const range = bandwidthRange(edits.minimumBandwidth, edits.maximumBandwidth);
    if (range) parameters.push(['bandwidth', range]);
    if (edits.duration) parameters.push(['duration', edits.duration]);
    if (edits.append) parameters.push(['append', edits.append]);
    if (edits.proxy) parameters.push(['segments', 'proxy']);
    if (conditions) parameters.push(['conditions', conditions]);
    return `/play.m3u8?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

/** Returns the `url` by which the server identifies the network conditions of a stream. */
export function conditionsURL(selection) {
    return selection.origin === 'offline' ? offlinePlaylistURL(selection.asset) : selection.source;
}

/** Returns the playback URL for a saved playlist, whose URIs must be absolute. */
export function savedPlaylistURL(url) {
    return `${url}${url.includes('?') ? '&' : '?'}absolute=1`;
}
