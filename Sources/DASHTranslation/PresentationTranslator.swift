package import DASHManifest
import HLSPlaylist
package import MediaTiming
package import SegmentFormat

/// A translator of DASH presentations to HLS playlists.
///
/// The translator has no clock and loads nothing. The caller loads the manifest, the segment indexes that
/// ``requiredIndexes(of:at:checkCancellation:)`` names and the beginnings of the segments that
/// ``segmentsWithEvents(of:indexes:at:checkCancellation:)`` names, and passes the time of day. For a dynamic
/// presentation, it calls ``translate(_:indexes:events:at:checkCancellation:)`` with each version of the manifest, so
/// that sequence numbers are continuous.
package struct PresentationTranslator: Sendable {
    /// The values that the next translation of a dynamic presentation needs.
    package private(set) var state: TranslationState
    private let limits: TranslationLimits

    /// Creates a translator.
    ///
    /// - Parameters:
    ///   - state: The state of a previous translation of the presentation, or a new one.
    ///   - limits: The maximum sizes of a translation.
    package init(state: TranslationState = TranslationState(), limits: TranslationLimits = TranslationLimits()) {
        self.state = state
        self.limits = limits
    }

    /// Returns the segment indexes that have to be loaded before the presentation can be translated, each once.
    ///
    /// - Parameters:
    ///   - presentation: The manifest.
    ///   - now: The time of day, in seconds since 1970.
    ///   - checkCancellation: A function that is called between the steps of the work.
    /// - Returns: The parts of files that contain the indexes.
    /// - Throws: ``TranslationError`` if the presentation cannot be translated whatever the indexes contain, or the error
    ///   of `checkCancellation`.
    package func requiredIndexes(
        of presentation: MediaPresentation,
        at now: MediaTime,
        checkCancellation: () throws -> Void = {}
    ) throws -> [AddressedResource] {
        guard presentation.hasSegmentIndexes else { return [] }
        let plan = try plan(of: presentation, indexes: [:], at: now, checkCancellation)
        var known: Set<AddressedResource> = []
        return plan.missingIndexes.filter { known.insert($0).inserted }
    }

    /// Returns the segments at whose beginnings there can be events for applications, each once.
    ///
    /// - Parameters:
    ///   - presentation: The manifest.
    ///   - indexes: The contents of the segment indexes that were loaded.
    ///   - now: The time of day, in seconds since 1970.
    ///   - checkCancellation: A function that is called between the steps of the work.
    /// - Returns: The segments, which are only part of a file where they have a byte range; those at the live edge last.
    /// - Throws: ``TranslationError`` if the presentation cannot be translated, or the error of `checkCancellation`.
    package func segmentsWithEvents(
        of presentation: MediaPresentation,
        indexes: [AddressedResource: IndexedFile] = [:],
        at now: MediaTime,
        checkCancellation: () throws -> Void = {}
    ) throws -> [AddressedResource] {
        guard presentation.hasInbandEvents else { return [] }
        let plan = try plan(of: presentation, indexes: indexes, at: now, checkCancellation)
        var known: Set<AddressedResource> = []
        return plan.periods.flatMap { InbandEvents.all(in: $0) }
            .flatMap { $0.segments(maximumCount: limits.eventSegmentCount) }.map(\.resource)
            .filter { known.insert($0).inserted }
    }

    /// Returns the segments of a presentation without a list of what is lost.
    private func plan(
        of presentation: MediaPresentation,
        indexes: [AddressedResource: IndexedFile],
        at now: MediaTime,
        _ checkCancellation: () throws -> Void
    ) throws -> PresentationPlan {
        var losses = TranslationLosses(maximumCount: 0)
        return try plan(of: presentation, indexes: indexes, at: now, &losses, checkCancellation)
    }

    /// Returns the segments of a presentation, and adds what is lost to a list.
    private func plan(
        of presentation: MediaPresentation,
        indexes: [AddressedResource: IndexedFile],
        at now: MediaTime,
        _ losses: inout TranslationLosses,
        _ checkCancellation: () throws -> Void
    ) throws -> PresentationPlan {
        try PresentationPlan(
            presentation,
            tracks: state.tracks,
            indexes: indexes,
            now: now,
            limits: limits,
            losses: &losses,
            checkCancellation: checkCancellation
        )
    }

    /// Translates a version of a presentation.
    ///
    /// - Parameters:
    ///   - presentation: The manifest.
    ///   - indexes: The contents of the segment indexes that were loaded; representations without theirs are lost.
    ///   - messages: The event messages of the segments that were read, which become date ranges; `nil` if none were.
    ///   - now: The time of day, in seconds since 1970, which determines the segments of a dynamic presentation.
    ///   - checkCancellation: A function that is called between the steps of the work, and throws to end it.
    /// - Returns: The playlists and what they do not describe.
    /// - Throws: ``TranslationError`` if there is nothing to play or a limit is exceeded, or the error of
    ///   `checkCancellation`; the state is then unchanged.
    /// - Complexity: O(*n* log *n*) in the segments of all playlists.
    package mutating func translate(
        _ presentation: MediaPresentation,
        indexes: [AddressedResource: IndexedFile] = [:],
        events messages: [AddressedResource: [EventMessage]]? = nil,
        at now: MediaTime,
        checkCancellation: () throws -> Void = {}
    ) throws -> TranslatedPresentation {
        var losses = TranslationLosses(maximumCount: limits.lossCount)
        var plan = try plan(of: presentation, indexes: indexes, at: now, &losses, checkCancellation)
        let isRefresh = !state.windows.isEmpty
        let isStatic = presentation.kind == .static && !isRefresh
        guard !plan.periods.isEmpty else {
            if presentation.kind == .dynamic, plan.isWaiting { throw TranslationError.notAvailableYet }
            throw TranslationError.nothingToPlay(reason: losses.first?.message ?? "no representation has segments")
        }
        guard plan.tracks.contains(where: { $0.kind == .video || $0.kind == .audio }) else {
            throw TranslationError.nothingToPlay(reason: losses.first?.message ?? "no video or audio has segments")
        }
        if isRefresh { reportLaterTracks(plan, &losses) }
        var measures: [TrackMeasure] = []
        for index in plan.tracks.indices {
            measures.append(
                try MediaPlaylistWriter.measure(
                    plan,
                    track: index,
                    isStatic: isStatic,
                    checkCancellation: checkCancellation
                )
            )
        }
        for (track, measure) in zip(plan.tracks, measures) where measure.hasSkippedHole {
            losses.append(.hole, "the track \(track.representationID) has a hole that is too long for gaps")
        }
        let target = targetDuration(plan.tracks, measures, presentation, isStatic: isStatic, &losses)
        let starts =
            isStatic
            ? plan.tracks.map { _ in WindowStart() } : WindowStart.all(plan, measures, after: state.windows)
        // Playlists of a program that ran before can have had other numbers for the same segments.
        let isRestart = !isStatic && !isRefresh && !starts.allSatisfy(\.isDerived)
        let restarts = isRestart ? starts.map(\.sequence) : state.restarts
        plan.setDiscontinuitySequences(
            isStatic ? Self.zero(plan) : state.discontinuities,
            restartTime: isRestart ? measures.compactMap(\.starts.first).max() : nil
        )
        let isEnded = presentation.kind == .static || Self.hasEnded(presentation, at: now)
        let origin = presentation.availabilityStartTime?.sinceEpoch ?? .zero
        let events = try EventTranslation(
            of: plan,
            messages: messages,
            origin: origin,
            limits: limits,
            losses: &losses,
            checkCancellation: checkCancellation
        ).dateRanges
        let end = origin + (measures.map(\.end).max() ?? .zero)
        let isDated =
            end < Self.maximumDate && (!events.isEmpty || !isStatic && presentation.availabilityStartTime != nil)
        let delay = presentation.suggestedPresentationDelay
        let steering = SteeringServer(presentation)
        reportSteering(steering, presentation, &losses)
        let shared = MediaPlaylistWriter.Shared(
            isStatic: isStatic,
            isEnded: isEnded,
            isVOD: isStatic,
            origin: isDated ? origin : nil,
            dateRanges: isDated ? events : [],
            holdBack: isEnded ? nil : delay.flatMap { $0 >= MediaTime(seconds: target *| 3) ? $0 : nil }
        )
        var playlists: [TranslatedPlaylist] = []
        var remaining = limits.byteCount
        for pathway in steering.map({ $0.pathways.map(Optional.some) }) ?? [nil] {
            try checkCancellation()
            let plan = plan.relocated(to: pathway?.location, in: presentation)
            for index in plan.tracks.indices {
                let output = try MediaPlaylistWriter.write(
                    plan,
                    track: index,
                    shared: shared,
                    targetDuration: isStatic && plan.tracks[index].hasOwnTargetDuration
                        ? max(1, measures[index].longestSeconds) : target,
                    maximumByteCount: remaining,
                    entryCount: measures[index].entryCount,
                    firstSequence: starts[index].sequence,
                    skipCount: starts[index].skipCount,
                    isRestart: restarts.indices.contains(index) && restarts[index] == starts[index].sequence,
                    checkCancellation: checkCancellation
                )
                remaining -= min(remaining, output.bytes.count)
                var track = plan.tracks[index]
                if let pathway { track.fileName = pathway.fileName(track.fileName) }
                playlists.append(TranslatedPlaylist(track: track, output, hasEndMarker: isEnded))
            }
        }
        let multivariant = try Self.multivariant(plan, measures, steering)
        if !isStatic {
            store(plan, measures, starts, target)
            state.restarts = restarts
        }
        return TranslatedPresentation(multivariant: multivariant, playlists: playlists, losses: losses.all)
    }

    /// The first second after the last date that playlists can contain: the year 10,000.
    static let maximumDate = MediaTime(seconds: 253_402_300_800)

    private static func zero(_ plan: PresentationPlan) -> [String: Int64] {
        plan.periods.first.map { [$0.key: 0] } ?? [:]
    }

    private func reportSteering(
        _ steering: SteeringServer?,
        _ presentation: MediaPresentation,
        _ losses: inout TranslationLosses
    ) {
        guard let element = presentation.contentSteering else { return }
        if let steering {
            guard steering.omittedCount > 0 else { return }
            let message = "\(steering.omittedCount) service locations are not pathways of the playlists"
            losses.append(.contentSteering, message, line: element.line)
        } else {
            losses.append(.contentSteering, "the content steering has no server", line: element.line)
        }
    }

    private func reportLaterTracks(_ plan: PresentationPlan, _ losses: inout TranslationLosses) {
        guard let last = plan.periods.last else { return }
        for kind in [TrackDescriptor.Kind.video, .audio, .subtitles] {
            let count = plan.tracks.filter { $0.kind == kind }.count
            guard last.tracks.candidates(kind).count > count else { continue }
            losses.append(.laterTrack, "a later period has more \(kind.rawValue) than the playlists describe")
        }
    }

    /// Returns a Boolean value that indicates whether all segments of a dynamic presentation are available.
    private static func hasEnded(_ presentation: MediaPresentation, at now: MediaTime) -> Bool {
        guard presentation.minimumUpdatePeriod == nil, let origin = presentation.availabilityStartTime?.sinceEpoch,
            let duration = presentation.duration
        else { return false }
        return now >= origin + duration
    }

    // MARK: Values of all playlists

    /// Returns the target duration, which should not change (RFC 8216bis §6.2.1) and which all playlists share; those of
    /// subtitles and I-frames have their own in static presentations (§6.2.4).
    private func targetDuration(
        _ tracks: [TrackDescriptor],
        _ measures: [TrackMeasure],
        _ presentation: MediaPresentation,
        isStatic: Bool,
        _ losses: inout TranslationLosses
    ) -> Int64 {
        let longest = max(1, measures.map(\.longestSeconds).max() ?? 1)
        guard !isStatic else {
            let media = zip(tracks, measures).filter { $0.0.kind == .video || $0.0.kind == .audio }
            return max(1, media.map(\.1.longestSeconds).max() ?? 1)
        }
        let declared =
            presentation.maximumSegmentDuration.map { min($0.roundedSeconds, Self.maximumDeclaredDuration) } ?? 0
        guard state.targetDuration > 0 else { return max(longest, declared) }
        if longest > state.targetDuration {
            losses.append(
                .changedTargetDuration,
                "the target duration grows from \(state.targetDuration) to \(longest) seconds"
            )
        }
        return max(longest, state.targetDuration)
    }

    /// The longest declared segment duration that determines a target duration: a minute.
    ///
    /// Some manifests declare an arbitrary large number.
    private static let maximumDeclaredDuration: Int64 = 60

    private mutating func store(
        _ plan: PresentationPlan,
        _ measures: [TrackMeasure],
        _ starts: [WindowStart],
        _ target: Int64
    ) {
        state.tracks = plan.tracks
        state.targetDuration = target
        state.discontinuities = Dictionary(
            plan.periods.map { ($0.key, $0.discontinuitySequence) },
            uniquingKeysWith: { first, _ in first }
        )
        state.windows = zip(measures, starts).map { measure, start in
            TrackWindow(
                firstSequence: start.sequence,
                starts: measure.starts.dropFirst(Int(clamping: start.skipCount)),
                end: measure.end
            )
        }
    }

    // MARK: The multivariant playlist

    private static func multivariant(
        _ plan: PresentationPlan,
        _ measures: [TrackMeasure],
        _ steering: SteeringServer?
    ) throws(TranslationError) -> MultivariantPlaylist {
        var keys: [String] = []
        var known: Set<String> = []
        for section in plan.periods.flatMap({ $0.sections.compactMap { $0 } }) {
            for key in ContentProtectionKeys.keys(section.candidate?.protections ?? [])
            where keys.count < maximumSessionKeyCount && known.insert(key).inserted { keys.append(key) }
        }
        let videos = plan.periods.flatMap { $0.sections.compactMap { $0?.candidate } }.filter {
            $0.descriptor.kind == .video
        }
        let writer = MultivariantPlaylistWriter(
            plan.tracks.indices.map { plan.description(ofTrack: $0) },
            measures: measures,
            sessionKeys: keys,
            steering: steering,
            hasIndependentSegments: !videos.isEmpty && videos.allSatisfy(\.hasIndependentSegments)
        )
        do {
            return try MultivariantPlaylist(parsing: Array(writer.text.utf8))
        } catch {
            throw .tooLarge(message: "\(error)")
        }
    }

    /// The maximum number of session keys; players load a license for each.
    private static let maximumSessionKeyCount = 64
}

extension MediaPresentation {
    fileprivate var hasInbandEvents: Bool {
        periods.contains { period in
            period.adaptationSets.contains { set in
                set.element.element(.inbandEventStream) != nil
                    || set.representations.contains { $0.element.element(.inbandEventStream) != nil }
            }
        }
    }

    /// A Boolean value that indicates whether a segment index may have to be loaded.
    fileprivate var hasSegmentIndexes: Bool {
        periods.contains { period in
            period.element.element(.segmentBase) != nil
                || period.adaptationSets.contains { set in
                    set.element.element(.segmentBase) != nil
                        || set.representations.contains { representation in
                            // A representation without segment information is one file.
                            representation.element.element(.segmentBase) != nil
                                || ![representation.element, set.element, period.element].contains { level in
                                    level.element(.segmentTemplate) != nil || level.element(.segmentList) != nil
                                }
                        }
                }
        }
    }
}

extension TrackDescriptor {
    /// A Boolean value that indicates whether the playlist of a static presentation has a target duration of its own
    /// (RFC 8216bis §6.2.4).
    fileprivate var hasOwnTargetDuration: Bool { kind == .subtitles || kind == .iFrames }
}

extension PresentationPlan {
    /// Returns the properties of a track in all periods: the highest bandwidth, and the codecs of all of them.
    fileprivate func description(ofTrack index: Int) -> TrackDescriptor {
        var track = tracks[index]
        for descriptor in periods.lazy.compactMap({ $0.sections[index]?.candidate?.descriptor }) {
            track.bandwidth = max(track.bandwidth, descriptor.bandwidth)
            // Without its codecs, a variant is taken for one whose codecs are not known.
            guard !track.codecs.isEmpty, track.codecs.count < Self.maximumCodecCount else { continue }
            track.codecs += descriptor.codecs.filter { !track.codecs.contains($0) }
        }
        return track
    }

    /// The maximum number of codecs of a track in all periods.
    private static let maximumCodecCount = 16
}

extension TrackCandidate {
    /// A Boolean value that indicates whether each segment begins with a stream access point of type 1 or 2.
    var hasIndependentSegments: Bool {
        let names: [AttributeName] = [.startWithSAP, .subsegmentStartsWithSAP]
        return [representation.element, set.element].contains { element in
            names.contains { name in element.unsigned(name).map { $0 == 1 || $0 == 2 } ?? false }
        }
    }
}
