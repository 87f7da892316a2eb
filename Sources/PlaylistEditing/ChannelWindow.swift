package import HLSPlaylist
package import MediaTiming

/// The segments that a simulated channel lists at a date, for manifests in formats other than HLS.
package struct ChannelWindow: Sendable, Hashable {
    /// The listed segments between two discontinuities of the channel.
    package struct Run: Sendable, Hashable {
        /// The number of periods of the channel before this period.
        ///
        /// The number stays the same while the window moves.
        package let number: Int64
        /// The time from the start of the channel to the first segment of the period, listed or not.
        package let start: MediaTime
        /// The position of the first segment of the period in the source, listed or not.
        package let firstPosition: Int
        /// The positions of the listed segments in the source.
        package let positions: Range<Int>
    }

    /// The listed segments by period, in order.
    package let runs: [Run]
    /// A Boolean value that indicates whether the channel has ended.
    package let isEnded: Bool
    /// The duration of the presentation, after which the channel ends or starts again.
    package let duration: MediaTime
    /// The time for which segments remain in the window.
    package let depth: MediaTime
    /// The time from the start of the channel to the last change of the listed segments.
    package let lastChange: MediaTime

    /// Computes the segments that a channel lists at a date.
    ///
    /// - Parameters:
    ///   - channel: The channel, whose partial segments are not listed.
    ///   - source: The complete playlist with the segments of the channel.
    ///   - date: The date.
    ///   - limits: The maximum sizes of a playlist with these segments.
    /// - Throws: ``PlaylistEditError/notStarted(start:)`` before the first segment is finished,
    ///   ``PlaylistEditError/cannotStitch(reason:)`` for a source that cannot be a channel, and
    ///   ``PlaylistEditError/tooLarge(_:)`` if a limit is exceeded.
    package init(
        _ channel: SimulatedChannel,
        of source: MediaPlaylist,
        at date: ProgramDateTime,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) {
        guard !source.isLive else {
            throw .cannotStitch(reason: "a channel is simulated from a complete playlist, and this one is live")
        }
        let schedule = try ChannelSchedule(source, channel)
        let elapsed = date.sinceEpoch - channel.start.sinceEpoch
        guard let published = schedule.published(at: elapsed, limits.entryCount) else {
            throw .notStarted(start: channel.start)
        }
        try schedule.verifySize(of: published.range, limits: limits)
        runs = schedule.channelRuns(of: published.range)
        isEnded = published.isEnded
        duration = schedule.cycle
        depth = schedule.depth
        lastChange = schedule.lastChange(of: published.range, at: elapsed)
    }
}

extension EditPlan {
    /// The edits of a media playlist before the edit that simulates a channel.
    ///
    /// The value is `nil` if no edit simulates a channel, or if later edits change the playlist of the channel.
    package var beforeChannel: EditPlan? {
        guard let index = edits.firstIndex(where: { $0.channel != nil }),
            edits.dropFirst(index + 1).allSatisfy({ $0 == .absolute })
        else { return nil }
        return EditPlan(Array(edits.prefix(index)))
    }
}
