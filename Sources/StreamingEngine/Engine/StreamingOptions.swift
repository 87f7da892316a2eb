public import Adaptation
public import HLSPlaylist
public import MediaTiming

/// What becomes of what is buffered when another variant is to be played.
///
/// Whatever is replaced plays on until what replaces it is there.
public enum VariantSwitchMode: String, Sendable, Hashable, CaseIterable {
    /// All of it is played before.
    case afterBuffer
    /// What lies behind the segment at the play head is fetched anew.
    case nextSegment
    /// The segment at the play head is, too.
    case atOnce
}

/// What is wanted of variants besides what the network carries.
public struct VariantPreferences: OptionSet, Sendable, Hashable {
    /// The bits.
    public let rawValue: Int

    /// Makes a set of its bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Variants with lossless sound are chosen among too; without it, only where there are no others.
    public static let scalabilityToLosslessAudio = VariantPreferences(rawValue: 1)
}

/// How an item is played; all of it can be changed while it is.
public struct StreamingOptions: Sendable {
    /// Where to begin; `nil` for where the stream says.
    public var startTime: MediaTime?
    /// The date where to begin, of a stream with dates; ``startTime`` goes before it.
    public var startDate: ProgramDateTime?
    /// Where to stop when playing forwards; `nil` for the end.
    public var forwardPlaybackEndTime: MediaTime?
    /// Where to stop when playing backwards; `nil` for the start.
    public var reversePlaybackEndTime: MediaTime?
    /// How much is buffered ahead of the play head; zero, the default, for what suits the stream.
    public var preferredForwardBufferDuration: Duration = .zero
    /// How much is kept behind the play head, for seeks backwards; 30 s by default.
    public var backBufferDuration: Duration = .seconds(30)
    /// How many bytes of each rendition are kept behind the play head at most; 8 MiB by default.
    public var backBufferByteLimit = ByteCount(8 << 20)
    /// How many bytes the buffer holds at most; 256 MiB by default.
    public var bufferByteLimit = ByteCount(256 << 20)
    /// Whether playing waits until there is enough to play through; else it begins with the first media.
    public var waitsToMinimizeStalls = true
    /// The highest bit rate that is fetched; `nil` for any.
    public var preferredPeakBitRate: BitRate?
    /// The largest picture that is of use; `nil` for any.
    public var preferredMaximumResolution: Resolution?
    /// The highest bit rate that is fetched over a network that is paid for; `nil` for ``preferredPeakBitRate`` alone.
    public var preferredPeakBitRateForExpensiveNetworks: BitRate?
    /// The largest picture that is of use over a network that is paid for; `nil` for ``preferredMaximumResolution`` alone.
    public var preferredMaximumResolutionForExpensiveNetworks: Resolution?
    /// What is wanted of variants besides; nothing by default.
    public var variantPreferences: VariantPreferences = []
    /// The size of the view, in pixels; `nil` where it is not known.
    public var viewSize: Resolution?
    /// Whether to begin with the first variant of the playlist, instead of one that the network is thought to carry.
    public var startsOnFirstEligibleVariant = false
    /// The variant that is fetched whatever the network carries, by its `VariantDescription.id`; `nil` to choose among all.
    ///
    /// Where it cannot be had, another one is.
    public var pinnedVariant: String?
    /// What becomes of what is buffered when another variant is pinned.
    public var pinning = VariantSwitchMode.nextSegment
    /// Who chooses among variants.
    public var selector = SelectorName.default
    /// What the network was thought to carry when it was used last.
    public var initialThroughput: BitRate?
    /// Which options are played when nobody has chosen.
    public var selectionRules = MediaSelectionRules()
    /// How far from the live edge to play; `nil` for what the stream wants.
    public var timeOffsetFromLive: MediaTime?
    /// Whether that distance is kept, by playing a little faster or slower.
    public var preservesTimeOffsetFromLive = false
    /// Whether the playlists of a live stream are loaded, and media fetched, while it is paused.
    public var usesNetworkWhilePaused = true
    /// Whether it only stands while something else is played, which is no pause.
    public var isHeld = false
    /// How long to go on trying while nothing at all can be reached; a minute by default.
    public var patience: Duration = .seconds(60)
    /// How sound is to be heard.
    public var sound = SoundSettings()
    /// Whether the play head stands at the end, instead of being left to run.
    public var pausesAtEnd = true

    /// Makes the options that are the defaults.
    public init() {}
}
