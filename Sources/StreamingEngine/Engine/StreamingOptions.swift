package import Adaptation
package import HLSPlaylist
package import MediaTiming
package import MediaTransport

/// The part of the buffer that is replaced when another variant is pinned.
///
/// Buffered media is played until the media that replaces it is loaded.
public enum VariantSwitchMode: String, Sendable, Hashable, CaseIterable {
    /// No media is replaced: the whole buffer is played first.
    case afterBuffer
    /// The media after the segment at the playhead is replaced.
    case nextSegment
    /// The segment at the playhead and the media after it are replaced.
    case atOnce
}

/// Preferences for variants besides bit rate and resolution (`AVVariantPreferences`).
public struct VariantPreferences: OptionSet, Sendable, Hashable {
    /// The raw bits of the option set.
    public let rawValue: Int

    /// Creates a set from raw bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Variants with lossless audio may be selected.
    ///
    /// Without this preference they are used only if there are no others.
    public static let scalabilityToLosslessAudio = VariantPreferences(rawValue: 1)
}

/// The options of playback, all of which can be changed during playback.
package struct StreamingOptions: Sendable {
    /// The media time at which playback starts; `nil` for the start position that the stream recommends.
    package var startTime: MediaTime?
    /// The policy that decides how to continue after the failure of a segment.
    package var recovery = RecoveryPolicy()
    /// The date at which playback starts, for a stream with dates; ``startTime`` takes precedence.
    package var startDate: ProgramDateTime?
    /// The media time at which forward playback ends; `nil` for the end of the item.
    package var forwardPlaybackEndTime: MediaTime?
    /// The media time at which reverse playback ends; `nil` for the start of the item.
    package var reversePlaybackEndTime: MediaTime?
    /// The duration of media that is buffered ahead of the playhead; zero, the default, to let the engine choose it for
    /// the stream.
    package var preferredForwardBufferDuration: Duration = .zero
    /// The duration of media that stays in the buffer behind the playhead, so that backward seeks need no request;
    /// 10 minutes by default.
    package var backBufferDuration: Duration = .seconds(600)
    /// The maximum number of bytes of each track that stay in the buffer behind the playhead; 64 MiB by default.
    package var backBufferByteLimit = ByteCount(64 << 20)
    /// The maximum size of the buffer, in bytes; 256 MiB by default.
    package var bufferByteLimit = ByteCount(256 << 20)
    /// A Boolean value that indicates whether playback waits until the buffer is likely to last; otherwise it begins
    /// with the first media.
    package var waitsToMinimizeStalls = true
    /// The maximum bit rate of fetched variants; `nil` for no limit.
    package var preferredPeakBitRate: BitRate?
    /// The maximum resolution of fetched variants; `nil` for no limit.
    package var preferredMaximumResolution: Resolution?
    /// The maximum bit rate over an expensive network; `nil` to apply only ``preferredPeakBitRate``.
    package var preferredPeakBitRateForExpensiveNetworks: BitRate?
    /// The maximum resolution over an expensive network; `nil` to apply only ``preferredMaximumResolution``.
    package var preferredMaximumResolutionForExpensiveNetworks: Resolution?
    /// The preferences for variants besides bit rate and resolution; empty by default.
    package var variantPreferences: VariantPreferences = []
    /// The size of the view, in pixels, which limits the resolution of fetched variants; `nil` if it is unknown.
    package var viewSize: Resolution?
    /// A Boolean value that indicates whether playback starts with the first eligible variant of the playlist, instead
    /// of one for the estimated throughput.
    package var startsOnFirstEligibleVariant = false
    /// The `VariantDescription.id` of the only variant to fetch, whatever the throughput; `nil` to select among all
    /// variants.
    ///
    /// Another variant is fetched while the pinned one is not available.
    package var pinnedVariant: String?
    /// The part of the buffer that is replaced when another variant is pinned.
    package var pinning = VariantSwitchMode.nextSegment
    /// The adaptation algorithm that selects variants.
    package var variantSelection = VariantSelection.default
    /// The throughput that was measured in an earlier session, as the initial estimate; `nil` if it is unknown.
    package var initialThroughput: BitRate?
    /// The rules that select audio and subtitles options until the application or a viewer selects others.
    package var selectionRules = MediaSelectionRules()
    /// The requested distance from the live edge; `nil` for the distance that the stream recommends.
    package var timeOffsetFromLive: MediaTime?
    /// A Boolean value that indicates whether the distance from the live edge is maintained by small changes of the
    /// rate.
    package var preservesTimeOffsetFromLive = false
    /// A Boolean value that indicates whether live playlists are reloaded and media is fetched while playback is
    /// paused.
    package var usesNetworkWhilePaused = true
    /// A Boolean value that indicates whether the item is suspended while an interstitial is played.
    ///
    /// Unlike a paused item, a suspended one always uses the network.
    package var isHeld = false
    /// The maximum time for which requests are repeated while no server can be reached; 60 s by default.
    package var patience: Duration = .seconds(60)
    /// The audio settings of playback.
    package var audioSettings = AudioSettings()
    /// A Boolean value that indicates whether playback pauses at the end; otherwise the requested rate is not changed
    /// there.
    package var pausesAtEnd = true

    /// Creates the default options.
    package init() {}
}
