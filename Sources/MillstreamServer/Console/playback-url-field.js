// The field with the playback URL, which can be copied to other players, and the link to save the playlist.

import { setHidden } from './element.js';
import { dismissErrors, showError, showMessage } from './messages.js';

const field = document.getElementById('playback-url');
const copyButton = document.getElementById('copy-url');
const saveLink = document.getElementById('save-playlist');
const note = document.getElementById('playback-url-note');

export function showPlaybackURL(player) {
    field.addEventListener('focus', () => field.select());
    copyButton.addEventListener('click', copy);
    player.addEventListener('select', () => {
        showURL('');
        setHidden(saveLink, true);
    });
    player.addEventListener('url', () => {
        showURL(player.sharedURL ?? '');
        setHidden(saveLink, player.selection.isFile || !player.savedURL);
        if (!player.sharedURL) return;
        saveLink.href = player.savedURL;
        // Titles are untrusted input: control characters and separators must not become part of a file name.
        const name = player.selection.title.replace(/[^\p{L}\p{N}._-]+/gu, ' ').trim();
        saveLink.download = `${name || 'stream'}.m3u8`;
        setHidden(note, !/^(localhost|127\.|\[::1\])/.test(location.hostname));
    });
}

function showURL(url) {
    field.value = url;
    copyButton.disabled = url === '';
}

async function copy() {
    try {
        await navigator.clipboard.writeText(field.value);
    } catch {
        // The clipboard API requires a secure context, which plain HTTP from another machine is not.
        field.select();
        if (!document.execCommand('copy')) {
            showError('The URL could not be copied. It is now selected: copy it with the keyboard.', 'copy');
            return;
        }
        copyButton.focus();
    }
    dismissErrors('copy');
    showMessage('The URL was copied.');
}
