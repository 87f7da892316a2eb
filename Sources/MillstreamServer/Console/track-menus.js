// Which sound and which subtitles play. Not every browser lets a page choose between those of a playlist; where it
// does not, a note says so.

import { element, setHidden, setTextOrHide } from './element.js';
import { languageText } from './format.js';

const find = (id) => document.getElementById(id);
const spoken = new Intl.ListFormat('en');

export class TrackMenus {
    #video;
    #playsHLS;
    #sound = find('sound');
    #subtitles = find('subtitles');
    #languages = { audio: [], subtitles: [] };
    // The language that a person chose, for whatever is loaded after; no subtitles are "".
    #wantedSound;
    #wantedSubtitles;

    /** `edits` tells what languages the stream has. */
    constructor(video, player, edits) {
        this.#video = video;
        this.#playsHLS = player.playsHLS;
        this.#sound.addEventListener('change', () => this.#chooseSound());
        this.#subtitles.addEventListener('change', () => this.#chooseSubtitles());
        for (const list of [video.audioTracks, video.textTracks]) {
            list?.addEventListener('addtrack', () => this.#adopt());
            list?.addEventListener('removetrack', () => this.#show());
            list?.addEventListener('change', () => this.#show());
        }
        for (const event of ['loadedmetadata', 'emptied']) video.addEventListener(event, () => this.#show());
        edits.addEventListener('languages', ({ detail }) => {
            this.#languages = detail;
            this.#show();
        });
    }

    get #soundTracks() {
        return [...(this.#video.audioTracks ?? [])];
    }

    get #subtitleTracks() {
        return [...this.#video.textTracks].filter(({ kind }) => kind === 'subtitles' || kind === 'captions');
    }

    #chooseSound() {
        const track = this.#soundTracks[this.#sound.selectedIndex];
        this.#wantedSound = track?.language;
        this.#enable(track);
    }

    #enable(chosen) {
        // On before off: a player that is left without any sound may take one of its own choice.
        if (chosen) chosen.enabled = true;
        for (const track of this.#soundTracks) if (track !== chosen) track.enabled = false;
    }

    #chooseSubtitles() {
        const track = this.#subtitleTracks[this.#subtitles.selectedIndex - 1];
        this.#wantedSubtitles = track?.language ?? '';
        this.#reveal(track);
    }

    #reveal(chosen) {
        for (const track of this.#subtitleTracks) track.mode = track === chosen ? 'showing' : 'disabled';
    }

    /** Takes the language chosen before, as soon as the stream turns out to have it. */
    #adopt() {
        const sound = this.#soundTracks.find(({ language }) => language && language === this.#wantedSound);
        if (sound && !sound.enabled) this.#enable(sound);
        const subtitles = this.#subtitleTracks.find(({ language }) => language && language === this.#wantedSubtitles);
        if (subtitles && subtitles.mode !== 'showing') this.#reveal(subtitles);
        this.#show();
    }

    #show() {
        const [sounds, subtitles] = [this.#soundTracks, this.#subtitleTracks];
        fill(this.#sound, sounds.map((track, index) => nameOf(track, `Sound ${index + 1}`)),
            sounds.findIndex(({ enabled }) => enabled));
        fill(this.#subtitles, ['Off', ...subtitles.map((track, index) => nameOf(track, `Subtitles ${index + 1}`))],
            1 + subtitles.findIndex(({ mode }) => mode === 'showing'));
        setHidden(find('sound-row'), sounds.length < 2);
        setHidden(find('subtitles-row'), subtitles.length === 0);
        setTextOrHide(find('tracks-note'), this.#noteFor(sounds, subtitles));
        setHidden(find('tracks'), sounds.length < 2 && subtitles.length === 0 && find('tracks-note').hidden);
    }

    #noteFor(sounds, subtitles) {
        // Before the metadata nobody knows what the browser offers.
        if (!this.#playsHLS || this.#video.readyState === HTMLMediaElement.HAVE_NOTHING) return '';
        const notes = [];
        const { audio, subtitles: written } = this.#languages;
        if (audio.length > 1 && sounds.length < 2) {
            notes.push(`Sound in ${spoken.format(audio)}: this browser picks one by itself.`);
        }
        if (written.length > 0 && subtitles.length === 0) {
            notes.push(`Subtitles in ${spoken.format(written)}: this browser does not show them.`);
        }
        return notes.join(' ');
    }
}

function fill(select, names, chosen) {
    // Built again only when it differs: an open list would close.
    if (names.join('\n') !== [...select.options].map(({ text }) => text).join('\n')) {
        select.replaceChildren(...names.map((text) => element('option', { text })));
    }
    if (select.selectedIndex !== chosen) select.selectedIndex = chosen;
}

function nameOf({ label, language }, otherwise) {
    return label || (language ? languageText(language) : otherwise);
}
