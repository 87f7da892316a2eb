// The player: one video element with the browser's own HLS, and what was chosen to play in it.

import { changeConditions } from './api.js';
import { announce, complain } from './status.js';
import { sentenceOf } from './sentence.js';
import { linkSource, playbackAddress } from './playback-address.js';
import { explainFailure } from './playback-failure.js';

const hlsType = 'application/vnd.apple.mpegurl';
const millisecondsToStay = 300;

/**
 * Events: `select` when something else is chosen or the player is closed; `load` when an address begins to load;
 * `problem` when playback failed (`problem` says why) or goes on again (`problem` is then undefined).
 */
export class Player extends EventTarget {
    /** `{origin: "remote"|"kept", title, source, poster, stream, asset, variants, audio, subtitles}`. */
    selection;
    /** Where the server answers what plays, with the edits. */
    address;
    problem;
    #edits;
    #network;
    // The conditions that the address which plays names, if any.
    #named = '';
    #video;
    #loads = 0;
    // Where the load under way is to begin; until it is there the video element says 0.
    #startPosition = 0;
    #replayTimer;

    /** `edits` and `network` are the panels whose values go into the address. */
    constructor(video, edits, network) {
        super();
        this.#video = video;
        this.#edits = edits;
        this.#network = network;
        network.addEventListener('change', () => this.#changeNetwork());
        this.playsHLS = video.canPlayType(hlsType) !== '';
        edits.addEventListener('change', () => this.#replaySoon());
        video.addEventListener('loadedmetadata', () => this.#goToStart());
        video.addEventListener('error', () => this.#failed());
        video.addEventListener('playing', () => this.#setProblem(undefined));
    }

    playRemote({ title, source, poster, stream }) {
        this.#select({ origin: 'remote', title, source, poster, stream });
    }

    /** `position` is where to begin, in seconds: a kept copy may step in for a stream that broke off. */
    playKept({ title, asset, poster, position }) {
        const { id, source, variants, audio, subtitles } = asset;
        this.#select({ origin: 'kept', title, source, poster, asset: id, variants, audio, subtitles }, position);
    }

    isPlaying(stream) {
        const { selection } = this;
        return selection !== undefined && (selection.stream === stream.id || selection.source === stream.url);
    }

    /** Starts again with the present edits, at the same position where the edited stream still has it. */
    replay() {
        if (this.selection) this.#load(this.position);
    }

    /** Where playback is, or is about to begin; at the end that is the beginning. */
    get position() {
        return this.#video.ended ? 0 : this.#video.currentTime || this.#startPosition;
    }

    togglePlay() {
        if (this.#video.paused) this.#play();
        else this.#video.pause();
    }

    seekBy(seconds) {
        const { seekable, currentTime } = this.#video;
        if (seekable.length === 0) return;
        const end = seekable.end(seekable.length - 1);
        this.#video.currentTime = Math.min(end, Math.max(seekable.start(0), currentTime + seconds));
    }

    close() {
        this.#loads += 1;
        this.selection = undefined;
        this.address = undefined;
        this.#setProblem(undefined);
        this.#video.removeAttribute('src');
        this.#video.load();
        this.#tell('select');
    }

    /** Lets go of a kept asset that is about to be deleted. */
    closeKept(id) {
        if (this.selection?.asset === id) this.close();
    }

    #select(selection, position = 0) {
        const again = this.selection?.source === selection.source && this.selection.origin === selection.origin;
        this.selection = selection;
        // The edits belong to a stream; those of another one would cut this one for no visible reason.
        if (!again) this.#edits.begin(selection);
        if (selection.poster) this.#video.poster = selection.poster;
        else this.#video.removeAttribute('poster');
        this.#tell('select');
        this.#load(position);
    }

    #load(position) {
        clearTimeout(this.#replayTimer);
        this.#loads += 1;
        this.#named = this.#network.value;
        this.address = new URL(playbackAddress(this.selection, this.#edits.values, this.#named), location.href).href;
        // The stream's link may still be as it was switched to before.
        if (this.#named) this.#switchLink(this.#named).catch(() => {});
        this.#setProblem(undefined);
        this.#tell('load');
        if (!this.playsHLS) return;
        this.#video.src = this.address;
        this.#startPosition = position;
        this.#play();
    }

    /** What plays goes on over the other network; only what plays over none yet has to begin again. */
    async #changeNetwork() {
        if (!this.selection) return;
        if (!this.#named) {
            this.#replaySoon();
            return;
        }
        try {
            await this.#switchLink(this.#network.value || 'Off');
        } catch (error) {
            // The link is gone when nothing was loaded over it for a while.
            if (error.status === 404) this.#replaySoon();
            else complain(`The network could not be changed. ${sentenceOf(error)}`);
        }
    }

    #switchLink(conditions) {
        return changeConditions({ url: linkSource(this.selection), named: this.#named, conditions });
    }

    /** By keyboard a list is walked through entry by entry; only the one a person stays at is loaded. */
    #replaySoon() {
        clearTimeout(this.#replayTimer);
        this.#replayTimer = setTimeout(() => this.replay(), millisecondsToStay);
    }

    #goToStart() {
        const { duration } = this.#video;
        // A live stream starts at its own edge, and a shorter preview at its beginning.
        if (this.#startPosition > 0 && Number.isFinite(duration) && this.#startPosition < duration - 0.5) {
            this.#video.currentTime = this.#startPosition;
        }
        this.#startPosition = 0;
    }

    async #play() {
        try {
            await this.#video.play();
        } catch (error) {
            // Other failures arrive as `error` events, and a new load aborts the former one by right.
            if (error.name === 'NotAllowedError') announce('The browser waits for you: press play in the player.');
        }
    }

    async #failed() {
        if (!this.selection || !this.#video.getAttribute('src')) return;
        const load = this.#loads;
        const { origin } = this.selection;
        const problem = await explainFailure(this.address, this.#video.error, {
            origin, proxied: this.#edits.values.proxy,
        });
        if (load === this.#loads) this.#setProblem(problem);
    }

    #setProblem(problem) {
        if (this.problem === problem) return;
        this.problem = problem;
        this.#tell('problem');
    }

    #tell(type) {
        this.dispatchEvent(new Event(type));
    }
}
