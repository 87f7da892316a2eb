import MediaTiming
import PlaybackReporting
import ResourceAddressing

/// The media that the decoder refused and that is not reported yet.
///
/// The pipeline reports the damage of a segment independently of the end of its append. The damage is reported after the
/// segment is loaded, because a segment that is loaded replaces media that was skipped before.
struct UndecodableMedia: Sendable {
    /// The consequence of media that could not be decoded.
    enum Outcome: Sendable {
        /// The media is skipped because of the error.
        case skip(SkippedSegment, StreamingError)
        /// Playback ends with the error, because no more video is expected to be decodable.
        case fail(StreamingError)
    }

    /// The video that could not be decoded last.
    private var video = UndecodableRun()
    /// The media whose consequence is not decided yet, in the order of the reports.
    private var pending: [(type: MediaType, range: MediaTimeRange)] = []

    /// A Boolean value that indicates whether the consequence of all media is decided.
    var isEmpty: Bool { pending.isEmpty }

    /// Adds media that the decoder refused.
    mutating func add(_ range: MediaTimeRange, of type: MediaType) { pending.append((type, range)) }

    /// Removes the media that does not belong to a segment that is being appended, and decides its consequences.
    ///
    /// - Parameters:
    ///   - appending: The ranges of the segments that are being appended.
    ///   - targetDuration: The target duration of the playlist.
    ///   - skippedSegments: The maximum number of consecutive segments that are skipped after failures.
    ///   - segment: Returns the segment that contains media of a type and a time range.
    /// - Returns: The consequences, in the order in which the media was added. If playback ends, that is the last one.
    mutating func takeOutcomes(
        appending: [MediaTimeRange],
        targetDuration: MediaTime,
        skippedSegments: Int,
        segment: (MediaType, MediaTimeRange) -> SegmentIdentification? = { _, _ in nil }
    ) -> [Outcome] {
        let all = pending
        pending = []
        var outcomes: [Outcome] = []
        for media in all {
            guard !appending.contains(where: { $0.intersection(media.range) != nil }) else {
                pending.append(media)
                continue
            }
            let damaged = segment(media.type, media.range)
            let place = damaged?.sequence.map { " in segment \($0)" } ?? ""
            let error = StreamingError(
                .damaged,
                "media of \(ClockText.seconds(media.range))\(place) could not be decoded",
                address: damaged.map { ResourceAddress($0.address) }
            )
            // Video is presented without audio that cannot be decoded, but audio is not presented without its video.
            if media.type == .video,
                video.isOverLimit(
                    adding: media.range,
                    targetDuration: targetDuration,
                    skippedSegments: skippedSegments
                )
            {
                return outcomes + [.fail(error)]
            }
            let skipped = SkippedSegment(
                address: damaged?.address ?? "",
                mediaType: media.type,
                range: media.range,
                reason: .notDecodable,
                sequence: damaged?.sequence
            )
            outcomes.append(.skip(skipped, error))
        }
        return outcomes
    }
}
