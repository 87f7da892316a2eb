import HLSPlaylist
public import MediaTiming
import PlaybackReporting
import ResourceAddressing

/// What an item is fetched in: each is fetched by itself, at its own pace.
enum StreamKind: Int, Sendable, Hashable, CaseIterable {
    /// The variant: pictures, or sound where there are none, or both.
    case main
    /// Sound from a playlist of its own.
    case audio
    /// Text.
    case subtitles

    /// Whether playing waits for it.
    var isRequired: Bool { self != .subtitles }
}

/// A media playlist, and what it is to the presentation.
struct StreamSource: Sendable, Hashable {
    /// What it is.
    enum Identity: Sendable, Hashable {
        /// A variant, at one of the places where it can be had from.
        case variant(Presentation.Variant.ID, location: Int)
        /// An option of a group.
        case option(MediaSelectionOption.ID)
    }

    let identity: Identity
    let address: ResourceAddress

    /// The variant, for one.
    var variantID: Presentation.Variant.ID? {
        guard case .variant(let id, _) = identity else { return nil }
        return id
    }
}

/// A segment on its way.
struct FetchJob: Sendable {
    let id: Int
    let segment: SegmentReference
    let source: StreamSource
    let watch: TransferWatch
    /// Whether nobody wants it any more.
    var isObsolete = false
}

/// The renditions of an item, as they are fetched.
struct StreamStates {
    private let main = StreamState()
    private let audio = StreamState()
    private let subtitles = StreamState()

    subscript(kind: StreamKind) -> StreamState {
        switch kind {
        case .main: main
        case .audio: audio
        case .subtitles: subtitles
        }
    }

    /// How much is buffered of all.
    var byteCount: Int { main.buffer.byteCount + audio.buffer.byteCount + subtitles.buffer.byteCount }

    /// Those that playing waits for.
    var required: [StreamState] { [main, audio].filter { $0.source != nil } }
}

/// One rendition of the item, as it is fetched; an engine has it to itself.
final class StreamState {
    /// Where media is fetched from now on; `nil` where this kind has no playlist of its own.
    var source: StreamSource? {
        didSet {
            if source != oldValue { doom = nil }
            needs.notify()
        }
    }
    /// The playlist that was loaded last, and where it is from.
    var timeline: PresentationTimeline?
    var timelineSource: StreamSource?
    /// When the load of the timeline began.
    var timelineLoaded: Duration?
    /// When the timeline had something new last.
    var lastNews: Duration?
    var buffer = StreamBuffer()
    var schedule = ReloadSchedule()
    /// When the playlist is loaded again.
    var reload: ReloadSchedule.Action? { didSet { needs.notify() } }
    /// Wakes those who have nothing to do without a source, or a playlist that goes on.
    let needs = Signal()
    var recovery = SegmentRecovery()
    /// Why no more of it will come; what is buffered is played first.
    var doom: StreamingError?
    /// How many segments in a row a source did not have.
    var misses: [StreamSource: Int] = [:]
    /// Where the segment that failed last was asked for.
    var tried = TriedSources()
    var job: FetchJob?
    /// Nothing is fetched before.
    var pausedUntil: Duration?
    /// Whether the variant of the next segment was decided on.
    var isDecided = false
    /// Where the switch that is under way began.
    var switching: VariantSwitch?

    /// Forgets what could not be had, so that it is tried again.
    func forgive() {
        doom = nil
        recovery = SegmentRecovery()
        pausedUntil = nil
    }

    /// Whether everything is loaded that its source lists up to the end.
    func isComplete(upTo end: MediaTime?) -> Bool {
        guard let timeline, !timeline.isLive || end != nil else { return false }
        guard let last = buffer.loaded.ranges.last?.end else { return timeline.range.isEmpty && !timeline.isLive }
        let limit = min(end ?? timeline.end, timeline.isLive ? (end ?? timeline.end) : timeline.end)
        return last >= limit - MediaTime(value: 1, timescale: 10)
    }
}

/// A seek that is under way.
struct PendingSeek: Sendable {
    let id: Int
    var target: MediaTime
    let tolerance: SeekTolerance
    /// Whether what is needed was there already.
    let isInBuffer: Bool
    /// Whether it is the one that begins the playback.
    let isStart: Bool
    /// Whether somebody asked for it, so that its beginning was told and its end has to be.
    let isAsked: Bool
    /// Whether nobody asked for it: the play head stays where it is, and what is shown there comes anew.
    var isRefresh = false
    /// Who waits for it.
    var waiter: CheckedContinuation<SeekResult, Never>?
}

/// How a seek ended.
public struct SeekResult: Sendable, Hashable {
    /// Whether the play head is there; `false` where another seek came first, or where it failed.
    public let isFinished: Bool
    /// Where the play head is.
    public let landed: MediaTime

    /// Makes a result.
    public init(isFinished: Bool, landed: MediaTime) {
        self.isFinished = isFinished
        self.landed = landed
    }
}
