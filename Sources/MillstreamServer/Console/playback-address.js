// The address of a stream with its edits, as the server and the command line spell them.

import { keptAddress } from './api.js';

/** "LOW...HIGH" with the ends that are there; nothing without any. */
export function bandwidthRange(low, high) {
    return low || high ? `${low}...${high}` : '';
}

/**
 * `selection` is what was chosen to play; `edits` is `{low, high, duration, append, proxy}`.
 * A kept copy is played as it is: the server edits only what comes from an origin.
 */
export function playbackAddress(selection, edits) {
    if (selection.origin === 'kept') return keptAddress(selection.asset);
    const parameters = [['url', selection.source]];
    const range = bandwidthRange(edits.low, edits.high);
    if (range) parameters.push(['bandwidth', range]);
    if (edits.duration) parameters.push(['duration', edits.duration]);
    if (edits.append) parameters.push(['append', edits.append]);
    if (edits.proxy) parameters.push(['segments', 'proxy']);
    return `/play.m3u8?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

/** The same for a file: away from this server its addresses have to be absolute. */
export function savedAddress(address) {
    return `${address}${address.includes('?') ? '&' : '?'}absolute=1`;
}
