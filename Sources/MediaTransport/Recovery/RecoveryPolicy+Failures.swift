package import MediaTiming

extension RecoveryPolicy {
    /// A failure, reduced to the values that determine how to continue.
    package struct Failure: Sendable, Hashable {
        /// The category of the failure.
        package var category: FailureCategory
        /// The delay that the server requested with `Retry-After`; zero if there is none.
        package var serverDelay: Duration
        /// A Boolean value that indicates whether the resource exceeds its maximum size, so that it is not requested
        /// again from the same source.
        package var exceedsSizeLimit: Bool

        /// Creates a failure.
        package init(
            _ category: FailureCategory,
            serverDelay: Duration = .zero,
            exceedsSizeLimit: Bool = false
        ) {
            self.category = category
            self.serverDelay = serverDelay
            self.exceedsSizeLimit = exceedsSizeLimit
        }

        /// Creates the failure of a request.
        package init(_ error: TransportError, of kind: TransportRequest.Kind) {
            self.init(
                error.category(of: kind),
                serverDelay: error.retryAfter ?? .zero,
                exceedsSizeLimit: error.code == .tooLarge
            )
        }
    }

    /// The resource of a track that failed.
    package enum Resource: Sendable, Hashable {
        /// The segment at a media time.
        case segment(at: MediaTime)
        /// The playlist of a source that is not in use yet.
        case playlist
        /// The live playlist of the source in use; `isOverdue` indicates that it has not been updated for so long that
        /// it must not be reloaded any more.
        case reload(isOverdue: Bool)
    }

    /// The circumstances of a failure.
    package struct Circumstances: Sendable, Hashable {
        /// The track to which the resource belongs.
        package var track: TrackKind
        /// A Boolean value that indicates whether another source has the same media and was not tried for it.
        package var hasOtherSource = false
        /// A Boolean value that indicates whether the source before an incomplete switch can still be used.
        package var hasFormerSource = false
        /// A Boolean value that indicates whether the resource is fetched for trick play.
        package var isTrickPlay = false
        /// A Boolean value that indicates whether the resource may become available later.
        package var isLive = false
        /// A Boolean value that indicates whether playback is about to stall without the resource.
        package var isUrgent = true
        /// A Boolean value that indicates whether other tracks wait for this one.
        package var isDelayingOtherTracks = false
        /// A Boolean value that indicates whether media was appended to the pipeline.
        package var hasMedia = false
        /// The maximum time for which requests are repeated while no server is reachable or the server is busy.
        package var timeout: Duration

        /// Creates the circumstances of a failure.
        package init(_ track: TrackKind, timeout: Duration) {
            self.track = track
            self.timeout = timeout
        }
    }

    /// An action after a failure of a track, in the order in which they are considered.
    package enum Action: Sendable, Hashable {
        /// Request the same resource again after a delay.
        case retry(after: Duration)
        /// Use the same media from another location, otherwise from another variant or rendition. If there is none
        /// after all, perform the alternative action.
        case useOtherSource(otherwise: Alternative)
        /// Return to the source before the switch.
        case useFormerSource
        /// Use the variant of normal playback for trick play.
        case useNormalPlayback
        /// Skip the segment.
        case skip
        /// Continue without the track.
        case dropTrack
        /// Reload the playlist as scheduled.
        case reload
        /// End playback at the end of the buffer.
        case endAfterBuffer
        /// End playback.
        case fail
    }

    /// An action that does not depend on other sources.
    package enum Alternative: Sendable, Hashable {
        /// Reload the playlist as scheduled.
        case reload
        /// Skip the segment.
        case skip
        /// Continue without the track.
        case dropTrack
        /// End playback.
        case fail
    }

    /// The failures of a sequence of resources since the last success: of a request, a track, or a download.
    package struct History: Sendable, Hashable {
        /// The number of failed attempts for the current resource.
        package internal(set) var attempts = 0
        /// The number of consecutive resources that were skipped.
        var skips = 0
        var position: MediaTime?
        var unreachableSince: Duration?
        var busySince: Duration?
        var hasSkippedBusySegment = false

        /// Creates a history without failures.
        package init() {}
    }
}
