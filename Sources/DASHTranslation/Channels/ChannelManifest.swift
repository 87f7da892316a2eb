import HLSPlaylist
package import MediaTiming

/// The dynamic manifest of a simulated live channel at one time (ISO/IEC 23009-1 §5.3).
///
/// Each run of segments between discontinuities is a Period. Its identifier, its start and the times of its segments depend on the
/// schedule of the channel alone, and stay the same when the manifest is loaded again.
package struct ChannelManifest: Sendable {
    /// The date of the first segment of the channel, in seconds since 1970.
    package var start: MediaTime
    /// The date for which the manifest is written, in seconds since 1970.
    package var date: MediaTime
    /// The date of the last change of the listed segments, in seconds since 1970.
    package var lastChange: MediaTime
    /// The time for which segments remain in the manifest.
    package var window: MediaTime
    /// The target duration of the playlists.
    package var targetDuration: MediaTime
    /// The duration of the channel if it has ended; `nil` for a channel that continues.
    package var duration: MediaTime?
    /// The tracks with video or audio.
    package var tracks: [ChannelTrack]

    /// The number of target durations before the live edge at which players should play (RFC 8216bis §4.4.3.8).
    private static let delayTargetCount: Int64 = 3
    /// The bit rate of each channel of audio for which the playlist has none, in bits per second.
    private static let audioBitRate: Int64 = 64_000

    /// Creates a manifest.
    ///
    /// - Parameters:
    ///   - start: The date of the first segment of the channel, in seconds since 1970.
    ///   - date: The date for which the manifest is written.
    ///   - lastChange: The date of the last change of the listed segments.
    ///   - window: The time for which segments remain in the manifest.
    ///   - targetDuration: The target duration of the playlists.
    ///   - duration: The duration of the channel if it has ended; `nil` for a channel that continues.
    ///   - tracks: The tracks.
    package init(
        start: MediaTime,
        date: MediaTime,
        lastChange: MediaTime,
        window: MediaTime,
        targetDuration: MediaTime,
        duration: MediaTime?,
        tracks: [ChannelTrack]
    ) {
        self.start = start
        self.date = date
        self.lastChange = lastChange
        self.window = window
        self.targetDuration = targetDuration
        self.duration = duration
        self.tracks = tracks
    }

    /// The numbers of the periods in which every track lists a segment, in order.
    ///
    /// A player selects tracks when it reads a Period for the first time. No track may therefore be added to a Period
    /// later.
    package var periodNumbers: [Int64] {
        var numbers: Set<Int64>?
        for track in tracks {
            let own = Set(track.runs.lazy.filter { !$0.segments.isEmpty }.map(\.number))
            numbers = numbers?.intersection(own) ?? own
        }
        return (numbers ?? []).sorted()
    }

    /// Returns the manifest as XML.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The bytes; `nil` if the manifest exceeds the maximum.
    package func xml(limit: Int) -> [UInt8]? {
        var writer = XMLTextWriter(limit: limit)
        let unit = max(targetDuration, MediaTime(seconds: 1))
        let attributes: KeyValuePairs<String, String?> = [
            "xmlns": "urn:mpeg:dash:schema:mpd:2011", "profiles": "urn:mpeg:dash:profile:full:2011", "type": "dynamic",
            "availabilityStartTime": Self.text(date: start), "publishTime": Self.text(date: lastChange),
            // New segments are found on average after a quarter of their duration.
            "minimumUpdatePeriod": duration == nil
                ? Self.text(duration: unit.scaled(by: MediaTime(value: 1, timescale: 2))) : nil,
            "mediaPresentationDuration": duration.map { Self.text(duration: $0) },
            // The segments of a channel that has ended remain available.
            "timeShiftBufferDepth": duration == nil ? Self.text(duration: window) : nil,
            "suggestedPresentationDelay": Self.text(duration: unit * Self.delayTargetCount),
            "minBufferTime": Self.text(duration: unit),
        ]
        let sets = adaptationSets
        let reference = tracks.first(where: \.hasVideo) ?? tracks.first
        writer.writeElement("MPD", attributes) { writer in
            for number in periodNumbers {
                guard let first = reference?.run(number) else { continue }
                writePeriod(of: first, sets, &writer)
            }
            writer.writeElement(
                "UTCTiming",
                ["schemeIdUri": "urn:mpeg:dash:utc:direct:2014", "value": Self.text(date: date)]
            )
        }
        return writer.isTooLong ? nil : writer.bytes
    }

    // MARK: Periods

    /// Writes a period with the tracks that have segments in it.
    ///
    /// - Parameters:
    ///   - first: The run of the video, or of the first track without video.
    ///   - sets: The adaptation sets.
    ///   - writer: The writer.
    private func writePeriod(
        of first: ChannelTrack.Run,
        _ sets: [AdaptationSet],
        _ writer: inout XMLTextWriter
    ) {
        // As in HLS, all tracks of a period share one timeline. Their first segments need not start at the same time.
        let origin = max(first.media.start, .zero)
        writer.writeElement("Period", ["id": "p\(first.number)", "start": Self.text(duration: first.start)]) { writer in
            for (index, set) in sets.enumerated() {
                let attributes: KeyValuePairs<String, String?> = [
                    "id": String(index +| 1), "contentType": set.contentType, "mimeType": "\(set.contentType)/mp4",
                    "lang": set.language,
                ]
                writer.writeElement("AdaptationSet", attributes) { writer in
                    if let label = set.label { writer.writeElement("Label", text: label) }
                    if let role = set.role {
                        let scheme = "urn:mpeg:dash:role:2011"
                        writer.writeElement("Role", ["schemeIdUri": scheme, "value": role])
                    }
                    for track in set.tracks {
                        guard let run = track.track.run(first.number) else { continue }
                        write(run, of: track, isVideo: set.isVideo, origin, &writer)
                    }
                }
            }
        }
    }

    private func write(
        _ run: ChannelTrack.Run,
        of track: DescribedTrack,
        isVideo: Bool,
        _ origin: MediaTime,
        _ writer: inout XMLTextWriter
    ) {
        let media = run.media
        let codecs = media.codecs.isEmpty ? track.codecs : media.codecs
        let channelCount = track.channelCount ?? Int64(media.channelCount ?? 2)
        let bandwidth = track.bandwidth ?? (Self.audioBitRate *| max(1, channelCount))
        let (width, height) = isVideo ? (Self.text(media.width), Self.text(media.height)) : (nil, nil)
        let attributes: KeyValuePairs<String, String?> = [
            "id": track.track.id, "bandwidth": bandwidth.description,
            "codecs": codecs.isEmpty ? nil : codecs.joined(separator: ","), "width": width, "height": height,
            "frameRate": isVideo ? Self.text(frameRate: track.frameRate) : nil,
            "audioSamplingRate": isVideo ? nil : Self.text(media.sampleRate),
        ]
        writer.writeElement("Representation", attributes) { writer in
            if !isVideo, let configuration = media.channelCount.flatMap({ Self.channelConfiguration($0) }) {
                let scheme = "urn:mpeg:dash:23003:3:audio_channel_configuration:2011"
                writer.writeElement(
                    "AudioChannelConfiguration",
                    ["schemeIdUri": scheme, "value": String(configuration)]
                )
            }
            write(run, origin, &writer)
        }
    }

    /// Writes the addresses of the segments.
    private func write(_ run: ChannelTrack.Run, _ origin: MediaTime, _ writer: inout XMLTextWriter) {
        let scale = run.media.timescale
        let attributes: KeyValuePairs<String, String?> = [
            "timescale": scale.description, "presentationTimeOffset": origin.nearestUnits(per: scale).description,
            "startNumber": run.startNumber.description,
        ]
        writer.writeElement("SegmentList", attributes) { writer in
            let range = run.initializationRange.flatMap { Self.text(range: $0) }
            writer.writeElement("Initialization", ["sourceURL": run.initialization, "range": range])
            writer.writeElement("SegmentTimeline") { writer in
                for entry in SegmentRepetition.entries(of: run) {
                    let time = entry.hasTime ? entry.start.description : nil
                    let repetitions = entry.repetitions > 0 ? entry.repetitions.description : nil
                    writer.writeElement("S", ["t": time, "d": entry.duration.description, "r": repetitions])
                }
            }
            for segment in run.segments {
                let range = segment.byteRange.flatMap { Self.text(range: $0) }
                writer.writeElement("SegmentURL", ["media": segment.address, "mediaRange": range])
            }
        }
    }

    // MARK: Adaptation sets

    /// A track with the values of its entry, which are read from the playlist only once for all periods.
    private struct DescribedTrack {
        let track: ChannelTrack
        let codecs: [String]
        /// The bit rate in bits per second; `nil` if it depends on the media.
        let bandwidth: Int64?
        let frameRate: MediaTime?
        let channelCount: Int64?

        init(_ track: ChannelTrack) {
            self.track = track
            switch track.entry {
            case .variant(let variant):
                codecs = variant.codecs
                bandwidth = max(1, variant.bandwidth?.bitsPerSecond ?? 1)
                frameRate = variant.frameRate
                channelCount = nil
            case .rendition(let rendition):
                codecs = []
                bandwidth = nil
                frameRate = nil
                channelCount = rendition.channels?.count
            }
        }
    }

    /// The tracks between which a player switches.
    private struct AdaptationSet {
        let isVideo: Bool
        var language: String?
        var label: String?
        var role: String?
        var tracks: [DescribedTrack]

        /// The type of the content.
        var contentType: String { isVideo ? "video" : "audio" }
    }

    /// The adaptation sets: first those with video, then those with audio, each in the order of their first tracks.
    private var adaptationSets: [AdaptationSet] {
        var sets: [AdaptationSet] = []
        var positions: [[String]: Int] = [:]
        for track in tracks.filter(\.hasVideo) + tracks.filter({ !$0.hasVideo }) {
            let (key, set) = Self.adaptationSet(track)
            if let known = positions[key] {
                sets[known].tracks.append(DescribedTrack(track))
            } else {
                positions[key] = sets.count
                sets.append(set)
            }
        }
        return sets
    }

    /// Returns the adaptation set of a track, and a key with the values that all tracks of the set have in common.
    private static func adaptationSet(_ track: ChannelTrack) -> (key: [String], set: AdaptationSet) {
        switch track.entry {
        case .variant(let variant):
            guard track.hasVideo else {
                return (["audio"], AdaptationSet(isVideo: false, role: "main", tracks: [DescribedTrack(track)]))
            }
            let codec = CodecList(variant.codecs).video.first?.prefix { $0 != "." } ?? ""
            let key = ["video", aspect(variant.resolution), String(codec), variant.videoRange?.rawValue ?? "SDR"]
            return (key, AdaptationSet(isVideo: true, tracks: [DescribedTrack(track)]))
        case .rendition(let rendition):
            let language = rendition.language.flatMap { PlaylistText.isLanguage($0) ? $0 : nil }
            let describesVideo = rendition.characteristics.contains("public.accessibility.describes-video")
            let set = AdaptationSet(
                isVideo: false,
                language: language,
                label: rendition.name.isEmpty ? nil : rendition.name,
                role: describesVideo ? "description" : rendition.isDefault ? "main" : "alternate",
                tracks: [DescribedTrack(track)]
            )
            let channels = rendition.channels.map { String($0.count) } ?? ""
            return (["rendition", rendition.language ?? "", rendition.name, channels, track.audioCodec], set)
        }
    }

    /// Returns the aspect ratio, rounded so that all scaled sizes of a video have the same ratio.
    private static func aspect(_ resolution: Resolution?) -> String {
        guard let resolution, resolution.height > 0 else { return "" }
        return String((Double(resolution.width) / Double(resolution.height) * 20).rounded())
    }

    // MARK: Values

    private static func text(date: MediaTime) -> String { ProgramDateTime(sinceEpoch: date).description }

    private static func text(duration: MediaTime) -> String { "PT\(max(duration, .zero))S" }

    /// Returns a byte range with the offsets of the first and the last byte (RFC 9110 §14.1.2); `nil` for an empty one.
    private static func text(range: ByteRange) -> String? {
        range.length > 0 ? "\(range.start)-\(range.end -| 1)" : nil
    }

    private static func text(_ number: Int?) -> String? { number?.description }

    private static func text(frameRate: MediaTime?) -> String? {
        guard let frameRate, frameRate > .zero else { return nil }
        return frameRate.timescale == 1 ? "\(frameRate.value)" : "\(frameRate.value)/\(frameRate.timescale)"
    }

    /// Returns the channel configuration for a number of channels (ISO/IEC 23003-3 §6.2.1.1.2); `nil` if there is none.
    private static func channelConfiguration(_ count: Int) -> Int? {
        switch count {
        case 1...6: count
        case 8: 7
        default: nil
        }
    }
}

/// Segments of equal duration without a gap between them: an element S (ISO/IEC 23009-1 §5.3.9.6).
private struct SegmentRepetition {
    let start: Int64
    let duration: Int64
    /// A Boolean value that indicates whether the segments do not directly follow those of the previous entry.
    let hasTime: Bool
    /// The number of segments after the first one.
    var repetitions: Int64 = 0

    /// Returns the entries of a run, in units of its timescale.
    ///
    /// Each time is computed from the start of the period and then rounded. Rounding errors of durations therefore do
    /// not add up, and a segment has the same time in all manifests.
    static func entries(of run: ChannelTrack.Run) -> [SegmentRepetition] {
        var entries: [SegmentRepetition] = []
        var end: Int64?
        for segment in run.segments {
            let time = run.media.start + segment.time
            // A segment without a duration, or before time zero, has one unit. The next segment starts after it.
            let start = max(end ?? 0, time.nearestUnits(per: run.media.timescale))
            let next = (time + segment.duration).nearestUnits(per: run.media.timescale)
            let duration = max(1, next -| start)
            if start == end, let last = entries.indices.last, entries[last].duration == duration {
                entries[last].repetitions +|= 1
            } else {
                entries.append(SegmentRepetition(start: start, duration: duration, hasTime: start != end))
            }
            let following = start +| duration
            end = following
        }
        return entries
    }
}

extension MediaTime {
    /// Returns the time in units of a timescale, rounded to the nearest one; results beyond 64 bits saturate.
    ///
    /// A time below zero has no unit in a manifest, and its result is not rounded exactly.
    fileprivate func nearestUnits(per timescale: Int64) -> Int64 {
        let units = Int128(value) *| Int128(max(1, timescale))
        let half = Int128(self.timescale).dividedSaturated(by: 2)
        return Int64(clamping: units.addingSaturated(half).dividedSaturated(by: Int128(self.timescale)))
    }
}
