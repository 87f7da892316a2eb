// The address of what plays, to paste into another player, and its playlist as a file.

import { setHidden } from './element.js';
import { savedAddress } from './playback-address.js';
import { announce, complain } from './status.js';

const field = document.getElementById('address');
const copyButton = document.getElementById('copy-address');
const saveLink = document.getElementById('save-playlist');
const note = document.getElementById('address-note');

export function offerAddress(player) {
    field.addEventListener('focus', () => field.select());
    copyButton.addEventListener('click', copy);
    player.addEventListener('load', () => {
        field.value = player.address;
        saveLink.href = savedAddress(player.address);
        // Control and separator characters have no place in a file name, and titles come from strangers.
        const name = player.selection.title.replace(/[^\p{L}\p{N}._-]+/gu, ' ').trim();
        saveLink.download = `${name || 'stream'}.m3u8`;
        setHidden(note, !/^(localhost|127\.|\[::1\])/.test(location.hostname));
    });
}

async function copy() {
    try {
        await navigator.clipboard.writeText(field.value);
    } catch {
        // Browsers give the clipboard to secure pages only; over plain HTTP from another machine the old way is left.
        field.select();
        if (!document.execCommand('copy')) {
            complain('The address could not be copied. It is selected now: copy it with the keyboard.');
            return;
        }
        copyButton.focus();
    }
    announce('The address is copied.');
}
