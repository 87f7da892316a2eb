// Why something does not play. A video element only says that it gave up, so the playlists are asked.

import { errorOf } from './api.js';
import { accountOf } from './sentence.js';

const mostChildren = 4;
const codecHint = 'This browser may not have the codecs. '
    + 'Try other qualities, or another player with the address of what plays.';
const originHint = 'The origin may not allow other sites to read its segments (CORS). '
    + 'Sending them through this server helps then.';

/**
 * `{message, hint, address, offerProxy, offerKept}` for a person, in whole sentences; the last two say what may help:
 * another way of the segments, the kept copy.
 */
export async function explainFailure(address, mediaError, { origin, proxied }) {
    const refusal = await refusalOf(address);
    // 400 is about the edits; and a server that does not answer has no kept copies either.
    if (refusal) return { ...accountOf(refusal), offerProxy: false, offerKept: refusal.status > 400 };
    if (origin === 'kept') {
        return {
            message: 'The kept copy could not be played.',
            hint: `It may hold a codec this browser does not have. ${detailOf(mediaError)}`,
            offerProxy: false,
            offerKept: false,
        };
    }
    return {
        message: 'The playlists can be read, but their media cannot be played.',
        hint: `${proxied ? codecHint : originHint} ${detailOf(mediaError)}`,
        offerProxy: !proxied,
        offerKept: true,
    };
}

/** The server's error for the playlist or for one of those it names; nothing when all can be read. */
async function refusalOf(address) {
    try {
        const response = await fetch(address, { cache: 'no-store' });
        if (!response.ok) return await errorOf(response);
        const text = await response.text();
        if (!text.trimStart().startsWith('#EXTM3U')) return { message: 'What the server answered is not a playlist.' };
        for (const child of childrenOf(text, address)) {
            const answer = await fetch(child, { cache: 'no-store' });
            if (!answer.ok) return await errorOf(answer);
            await answer.body?.cancel();
        }
    } catch {
        return { message: 'The server does not answer.', hint: 'See whether “millstream serve” is still running.' };
    }
    return undefined;
}

/** The media playlists of a multivariant one, as far as this server answers them. */
function childrenOf(text, address) {
    if (!text.includes('#EXT-X-STREAM-INF')) return [];
    return text.split(/\r?\n/)
        .filter((line) => line.trim() && !line.startsWith('#'))
        .map((line) => new URL(line.trim(), address))
        .filter((url) => url.origin === location.origin)
        .slice(0, mostChildren);
}

function detailOf(mediaError) {
    const detail = mediaError?.message?.replace('PipelineStatus::', '');
    return detail ? `The browser says: ${detail.replace(/\.$/, '')}.` : '';
}
