public import HLSPlaylist
public import MediaTiming

/// A live channel that is simulated with the segments of a complete presentation.
///
/// The playlist of a channel depends only on the presentation and the date, so all clients, all servers and a restarted
/// server agree on it. Each segment appears when a real channel would have finished it, has the date at which it is
/// broadcast, and disappears at the end of the window.
public struct SimulatedChannel: Sendable, Hashable {
    /// A Boolean value that indicates whether the presentation starts again at its end; otherwise the channel ends with
    /// it.
    public var repeats: Bool
    /// The date of the first segment.
    public var start: ProgramDateTime
    /// The duration for which finished segments remain in the playlist, from 1 second to 1 day.
    public var window: MediaTime
    /// The duration of the partial segments with which the playlist has low latency (RFC 8216bis §4.4.4.9), from 0.1 to 10
    /// seconds; `nil` for a playlist of whole segments.
    ///
    /// Only a server that divides segments into parts has a playlist with them; see the option `part` of
    /// ``PlaylistEdit/live(_:)``.
    public var partTarget: MediaTime?
    /// The durations of the periods between discontinuities, which are the same for all tracks of a presentation; `nil` for
    /// those of the edited playlist.
    var periods: [MediaTime]?
    /// The target duration of the video in seconds, which all tracks of a live presentation have (RFC 8216bis §6.2.4); `nil`
    /// for that of the edited playlist.
    var targetDuration: Int64?

    /// The permitted target durations, which are in the URLs of the tracks.
    private static let targetDurations: ClosedRange<Int64> = 1...86_400

    /// The start of channels for which none is given: 2020-01-01T00:00:00Z.
    public static let defaultStart = ProgramDateTime(sinceEpoch: MediaTime(seconds: 1_577_836_800))

    /// The window of channels for which none is given: one minute.
    public static let defaultWindow = MediaTime(seconds: 60)

    /// The permitted windows.
    static let windows = MediaTime(seconds: 1)...MediaTime(seconds: 86_400)

    /// The permitted durations of parts.
    static let partTargets = MediaTime(value: 1, timescale: 10)...MediaTime(seconds: 10)

    /// The maximum number of periods, whose durations are in the URLs of the tracks.
    static let maximumPeriodCount = 200

    /// Creates a channel.
    ///
    /// - Parameters:
    ///   - repeats: Whether the presentation starts again at its end.
    ///   - start: The date of the first segment.
    ///   - window: The duration for which segments remain in the playlist; values outside of 1 second to 1 day are
    ///     replaced with the nearest permitted value.
    ///   - partTarget: The duration of partial segments, or `nil` for none; values outside of 0.1 to 10 seconds are
    ///     replaced with the nearest permitted value.
    public init(
        repeats: Bool = true,
        start: ProgramDateTime = defaultStart,
        window: MediaTime = defaultWindow,
        partTarget: MediaTime? = nil
    ) {
        self.repeats = repeats
        self.start = start
        self.window = min(max(window, Self.windows.lowerBound), Self.windows.upperBound)
        self.partTarget = partTarget.map { min(max($0, Self.partTargets.lowerBound), Self.partTargets.upperBound) }
    }
}

extension SimulatedChannel: LosslessStringConvertible {
    /// The form of the channel in URLs and on the command line, such as `loop,window=60`.
    public var description: String {
        var parts = [repeats ? "loop" : "once"]
        if !repeats || start != Self.defaultStart { parts.append("start=\(start)") }
        if window != Self.defaultWindow { parts.append("window=\(window)") }
        if let partTarget { parts.append("part=\(partTarget)") }
        if let periods { parts.append("periods=" + periods.map(\.description).joined(separator: "+")) }
        if let targetDuration { parts.append("target=\(targetDuration)") }
        return parts.joined(separator: ",")
    }

    /// Creates a channel from text of the form `loop[,start=DATE][,window=SECONDS][,part=SECONDS]` or
    /// `once,start=DATE[,window=SECONDS][,part=SECONDS]`.
    ///
    /// - Returns: `nil` for any other text.
    public init?(_ text: String) {
        guard text.utf8.count <= 8_192 else { return nil }
        var parts = text.split(separator: ",", omittingEmptySubsequences: false)[...]
        switch parts.popFirst() {
        case "loop": repeats = true
        case "once": repeats = false
        default: return nil
        }
        var start: ProgramDateTime?
        var window: MediaTime?
        for part in parts {
            let field = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard field.count == 2 else { return nil }
            switch field[0] {
            case "start" where start == nil:
                guard let date = ProgramDateTime(field[1]), Self.isPlausible(date) else { return nil }
                start = date
            case "window" where window == nil:
                guard let time = MediaTime(decimal: field[1]), Self.windows.contains(time) else { return nil }
                window = time
            case "part" where partTarget == nil:
                guard let time = MediaTime(decimal: field[1]), Self.partTargets.contains(time) else { return nil }
                partTarget = time
            case "periods" where periods == nil:
                let durations = field[1].split(separator: "+", omittingEmptySubsequences: false)
                guard durations.count <= Self.maximumPeriodCount else { return nil }
                let times = durations.compactMap { MediaTime(decimal: $0) }
                guard times.count == durations.count, times.allSatisfy({ $0 > .zero }) else { return nil }
                periods = times
            case "target" where targetDuration == nil:
                guard let seconds = Int64(field[1]), Self.targetDurations.contains(seconds) else { return nil }
                targetDuration = seconds
            default: return nil
            }
        }
        guard repeats || start != nil else { return nil }
        self.start = start ?? Self.defaultStart
        self.window = window ?? Self.defaultWindow
    }

    /// Returns a Boolean value that indicates whether a date is from the years 1970 to 2999.
    private static func isPlausible(_ date: ProgramDateTime) -> Bool {
        date.sinceEpoch >= .zero && date.sinceEpoch < MediaTime(seconds: 32_503_680_000)
    }
}

extension SimulatedChannel {
    /// Returns the playlist that a live channel has at a date, for a server that delivers partial segments.
    ///
    /// - Parameters:
    ///   - source: The complete playlist with the segments of the channel.
    ///   - date: The date.
    ///   - delivery: The delivery of partial segments; `nil` for a playlist of whole segments.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist, with increasing sequence numbers and the dates of its segments; with `EXT-X-ENDLIST` once a
    ///   channel that does not repeat has ended.
    /// - Throws: ``PlaylistEditError/notStarted(start:)`` before the first segment is finished,
    ///   ``PlaylistEditError/notPublished(until:)`` before the awaited media is published,
    ///   ``PlaylistEditError/cannotStitch(reason:)`` for a live playlist, one without segments, one that is too short to be
    ///   repeated, and parts of an encrypted one; ``PlaylistEditError/tooLarge(_:)`` if the result exceeds a limit.
    package func playlist(
        of source: MediaPlaylist,
        at date: ProgramDateTime,
        delivery: PartDelivery?,
        limits: PlaylistLimits
    ) throws(PlaylistEditError) -> MediaPlaylist {
        guard !source.isLive else {
            throw .cannotStitch(reason: "a channel is simulated from a complete playlist, and this one is live")
        }
        // The tags of a recorded stream with low latency are those of its own server.
        var media = try source.withoutLowLatency(limits: limits)
        // A file with all cues would be published at its end only.
        if let targetDuration { media = try SubtitleDivision(of: media).divided(every: targetDuration, limits: limits) }
        let schedule = try ChannelSchedule(media, self)
        let elapsed = date.sinceEpoch - start.sinceEpoch
        guard let published = schedule.published(at: elapsed, limits.entryCount) else {
            throw .notStarted(start: start)
        }
        let parts = delivery == nil || published.isEnded ? nil : try ChannelParts(schedule, media)
        if let awaited = delivery?.awaited, let parts {
            let publication = try parts.publication(of: awaited, after: published.range.upperBound, at: elapsed)
            guard publication <= elapsed else {
                throw .notPublished(until: start.advanced(by: publication))
            }
        }
        // The tags of the unfinished segment apply to its parts.
        let hasNext = parts != nil && schedule.hasSegment(published.range.upperBound)
        let listed = published.range.lowerBound..<(published.range.upperBound +| (hasNext ? 1 : 0))
        try schedule.verifySize(of: listed, limits: limits)
        let playlist = try MediaPlaylistAssembly.assemble(
            primary: media,
            runs: schedule.runs(of: listed),
            numbering: MediaPlaylistAssembly.Numbering(
                mediaSequence: published.range.lowerBound,
                discontinuitySequence: schedule.discontinuitySequence(at: published.range.lowerBound),
                isEnded: published.isEnded,
                targetDuration: targetDuration ?? 0
            ),
            limits: limits
        )
        guard let parts else { return playlist }
        return try parts.writing(into: playlist, listed, isLastUnfinished: hasNext, at: elapsed, limits: limits)
    }
}

extension MediaPlaylist {
    /// Returns the playlist that a live channel with the segments of this playlist has at a date.
    ///
    /// - Parameters:
    ///   - channel: The channel, whose partial segments are not listed.
    ///   - date: The date.
    ///   - limits: The maximum sizes of the result.
    /// - Returns: The playlist, with increasing sequence numbers and the dates of its segments; with `EXT-X-ENDLIST` once a
    ///   channel that does not repeat has ended.
    /// - Throws: ``PlaylistEditError/notStarted(start:)`` before the first segment is finished,
    ///   ``PlaylistEditError/cannotStitch(reason:)`` for a live playlist, one without segments and one that is too short to
    ///   be repeated; ``PlaylistEditError/tooLarge(_:)`` if the result exceeds a limit.
    public func simulated(
        _ channel: SimulatedChannel,
        at date: ProgramDateTime,
        limits: PlaylistLimits = PlaylistLimits()
    ) throws(PlaylistEditError) -> MediaPlaylist {
        try channel.playlist(of: self, at: date, delivery: nil, limits: limits)
    }

    /// The ranges of segments between discontinuities.
    var periodRanges: [Range<Int>] {
        var starts = segments.indices.filter { $0 == 0 || segments[$0].hasDiscontinuity }
        starts.append(segments.count)
        return zip(starts, starts.dropFirst()).map { $0..<$1 }
    }

    /// The durations of the periods between discontinuities.
    var periodDurations: [MediaTime] {
        periodRanges.map { segments.timeRange(at: $0.upperBound - 1).end - segments.timeRange(at: $0.lowerBound).start }
    }
}
