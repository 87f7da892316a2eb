// The address of a stream with its edits, as the server and the command line spell them.

import { keptAddress } from './api.js';

/** "LOW...HIGH" with the ends that are there; nothing without any. */
export function bandwidthRange(low, high) {
    return low || high ? `${low}...${high}` : '';
}

/**
 * `selection` is what was chosen to play; `edits` is `{low, high, duration, append, proxy}`, `network` the name of the
 * conditions that it is sent under, or nothing.
 * A kept copy is played as it is: the server edits only what comes from an origin.
 */
export function playbackAddress(selection, edits, network) {
    if (selection.origin === 'kept') {
        return keptAddress(selection.asset) + (network ? `?conditions=${encodeURIComponent(network)}` : '');
    }
    const parameters = [['url', selection.source]];
    const range = bandwidthRange(edits.low, edits.high);
    if (range) parameters.push(['bandwidth', range]);
    if (edits.duration) parameters.push(['duration', edits.duration]);
    if (edits.append) parameters.push(['append', edits.append]);
    if (edits.proxy) parameters.push(['segments', 'proxy']);
    if (network) parameters.push(['conditions', network]);
    return `/play.m3u8?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

/** What the server knows a stream's link by. */
export function linkSource(selection) {
    return selection.origin === 'kept' ? keptAddress(selection.asset) : selection.source;
}

/** The same for a file: away from this server its addresses have to be absolute. */
export function savedAddress(address) {
    return `${address}${address.includes('?') ? '&' : '?'}absolute=1`;
}
