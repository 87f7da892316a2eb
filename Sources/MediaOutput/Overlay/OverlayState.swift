public import MediaTiming

/// The contents of the overlay over the video, set by the player and drawn by the window.
///
/// Frequent changes are cheap, because the window draws again only if the visible contents have changed.
public struct OverlayState: Sendable, Hashable {
    /// The extent of the playable media.
    public enum Extent: Sendable, Hashable {
        /// The extent is not known yet; there is no position bar.
        case unknown
        /// The media is complete and ends at the given time.
        case onDemand(MediaTime)
        /// The media is live; ``OverlayState/seekableRange`` advances with it.
        case live
    }

    /// The state of playback.
    public enum TimeControlStatus: Sendable, Hashable {
        /// Playback is in progress.
        case playing
        /// Playback is paused.
        case paused
        /// Playback waits for media; the reason is a short text, "buffering" if it is empty.
        case waiting(reason: String)
        /// Playback has reached the end.
        case ended
    }

    /// The position of the playhead.
    public var position = MediaTime.zero
    /// The extent of the playable media.
    public var extent = Extent.unknown
    /// The time ranges of the loaded media.
    public var loadedRanges = MediaTimeRangeSet()
    /// The seekable time range; `nil` for the whole duration of complete media.
    public var seekableRange: MediaTimeRange?
    /// The distance from the live edge that the stream recommends, before which ``seekableRange`` ends; `nil` if it is unknown.
    public var recommendedTimeOffsetFromLive: MediaTime?
    /// The distance from the live edge that the application has configured; `nil` for the recommended distance.
    public var configuredTimeOffsetFromLive: MediaTime?
    /// The state of playback.
    public var timeControlStatus = TimeControlStatus.paused
    /// The playback rate; 1 is normal.
    public var rate = 1.0
    /// The volume, from 0 to 1.
    public var volume = 1.0
    /// A Boolean value that indicates whether the audio is muted, regardless of the volume.
    public var isMuted = false
    /// A message in the center of the window, shown until it is removed, such as the reason why nothing is played.
    ///
    /// For transient texts, use ``PlayerWindow/announce(_:)``.
    public var message: String?
    /// The level of the audio, from 0 to 1 (full scale), shown with the title and the position if there is no video;
    /// `nil` if there is video.
    public var audioLevel: Double?
    /// The title of the media, shown instead of that of the window if there is no video; `nil` if it is unknown.
    public var mediaTitle: String?
    /// A line about the media, such as its artist and its album, shown below the title of media without video; `nil` for
    /// none.
    public var mediaDetails: String?
    /// The artwork of the media, shown behind the title if there is no video; `nil` for none.
    public var artwork: WindowArtwork?
    /// The subtitles to show now.
    public var subtitles = SubtitleScript()
    /// The lines of statistics in a corner; if empty, no statistics are shown.
    public var statistics: [String] = []

    /// Creates an overlay for paused playback at zero, without a position bar.
    public init() {}

    /// The time range of the position bar; `nil` if there is no bar.
    var barRange: MediaTimeRange? {
        switch extent {
        case .unknown: nil
        case .onDemand(let end):
            end > .zero ? MediaTimeRange(start: .zero, end: end) : nil
        case .live: seekableRange.flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// A Boolean value that indicates whether live media is played at the configured distance from the live edge.
    ///
    /// Later positions count too, and earlier ones up to two thirds of the recommended distance, because the seekable range advances
    /// by whole segments. The recommended distance is usually three target durations, so the tolerance is two of them.
    var isAtLiveEdge: Bool {
        guard let seekableRange else { return true }
        let recommended = recommendedTimeOffsetFromLive?.seconds ?? Self.usualTimeOffsetFromLive
        let configured = max(recommended, configuredTimeOffsetFromLive?.seconds ?? 0)
        let tolerance = max(Self.minimumLiveEdgeTolerance, recommended * 2 / 3)
        return (seekableRange.end - position).seconds <= configured - recommended + tolerance
    }

    /// The distance from the live edge that is assumed if it is unknown, in seconds: three usual target durations.
    private static let usualTimeOffsetFromLive = 18.0
    /// The minimum tolerance for the distance from the live edge, in seconds, for servers that declare a very short distance.
    private static let minimumLiveEdgeTolerance = 4.0

    /// Returns the seekable time closest to the given time.
    func nearestSeekableTime(to time: MediaTime) -> MediaTime {
        guard let range = seekableRange ?? barRange else { return max(.zero, time) }
        return min(max(range.start, time), range.end)
    }
}
