// The network that the server simulates for a playback URL, which can be the reason why nothing arrives.

import { fetchConditions } from './api.js';
import { sharedConditions } from './playback-url.js';

/** The name of the conditions without an effect. */
export const perfectConditions = 'Off';

/**
 * Returns the name of the network conditions under which the server sends a playback URL and its children; `undefined` if it simulates
 * none, or does not respond.
 */
export async function fetchSimulatedConditions(playbackURL) {
    const { pathname, searchParams } = new URL(playbackURL, location.href);
    const named = searchParams.get('conditions');
    try {
        const { shared, links } = await fetchConditions();
        const id = searchParams.get('link');
        // The server reports URLs without user name and password.
        const url = (searchParams.get('url') ?? pathname).replace(/^(https?:\/\/)[^/?#]*@/i, '$1');
        const link = links.find((link) => (id === null ? link.url === url && link.named === named : link.id === id));
        const name = link?.conditions ?? (named === null || named === sharedConditions ? shared : named);
        return name === perfectConditions ? undefined : name;
    } catch {
        return undefined;
    }
}
