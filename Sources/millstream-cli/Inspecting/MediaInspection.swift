import HLSPlaylist
import MediaTiming
import ReportFormat
import SegmentFormat
import StreamingEngine

#if Playback
import MediaDecoding
#endif

/// The media of a playlist or a file, as its segments have it.
struct MediaInspection {
    /// The media of a segment, or the reason for which it could not be read.
    struct Segment {
        let sequence: Int64
        let range: MediaTimeRange
        let media: Result<SegmentMedia, Failure>
    }

    let segments: [Segment]
    /// The number of segments that were not read because of the limit.
    let omittedCount: Int

    /// Creates the inspection by loading and reading the first segments.
    ///
    /// - Throws: ``Failure`` if the build cannot read media; `CancellationError`.
    init(_ reader: MediaReader, limit: Int) async throws {
        #if Playback
        var probe = MediaProbe()
        var segments: [Segment] = []
        for position in 0..<min(limit, reader.count) {
            let listed = reader.playlist.segments[position]
            let media: Result<SegmentMedia, Failure>
            do {
                media = .success(SegmentMedia(try probe.read(try await reader.segment(at: position))))
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                media = .failure(Failure(error))
            }
            let range = MediaTimeRange(start: listed.start, duration: listed.duration)
            segments.append(Segment(sequence: listed.sequence, range: range, media: media))
        }
        self.segments = segments
        omittedCount = max(0, reader.count - segments.count)
        #else
        throw Failure(.failed, "no-decoder", "this build cannot read media")
        #endif
    }

    /// The failures of the segments that could not be read.
    var failures: [Failure] {
        segments.compactMap { segment in
            if case .failure(let failure) = segment.media { failure } else { nil }
        }
    }

    /// The tracks of the first segment with media.
    var tracks: [SegmentMedia.Track] {
        for segment in segments {
            if case .success(let media) = segment.media, !media.tracks.isEmpty { return media.tracks }
        }
        return []
    }
}

/// The media of a segment.
struct SegmentMedia {
    /// A track of a segment.
    struct Track {
        let format: MediaTrack
        let sampleCount: Int
        let byteCount: Int
        let range: MediaTimeRange
        let firstDecodeTime: MediaTime
        let keyFrameTimes: [MediaTime]
    }

    let container: String?
    let byteCount: Int
    let tracks: [Track]
    let problems: [String]

    /// The track whose duration is that of the segment: the video, otherwise the first one.
    var main: Track? { tracks.first { $0.format.mediaType == .video } ?? tracks.first }

    /// Returns the bit rate of the segment.
    ///
    /// - Parameter declared: The duration in the playlist, which applies if the segment is a single picture, as in I-frame
    ///   playlists: it is shown for that time.
    /// - Returns: The bit rate; `nil` if it is unknown.
    func bitRate(declared: MediaTime) -> BitRate? {
        let measured = main.flatMap { $0.sampleCount > 1 ? $0.range.duration : nil }
        return Self.bitRate(Int64(clamping: byteCount), measured ?? declared)
    }

    /// Returns the bit rate of a number of bytes in a duration; `nil` if the duration is not positive.
    static func bitRate(_ byteCount: Int64, _ duration: MediaTime) -> BitRate? {
        let seconds = duration.seconds
        guard byteCount > 0, seconds > 0 else { return nil }
        return BitRate(bitsPerSecond: Int64(saturating: (Double(byteCount) * 8 / seconds).rounded()))
    }
}

#if Playback
extension SegmentMedia {
    fileprivate init(_ contents: MediaProbe.Contents) {
        container = contents.container?.rawValue
        byteCount = contents.byteCount
        problems = contents.problems
        tracks = contents.tracks.map { track in
            Track(
                format: track.format,
                sampleCount: track.sampleCount,
                byteCount: track.byteCount,
                range: track.range,
                firstDecodeTime: track.firstDecodeTime,
                keyFrameTimes: track.keyFrameTimes
            )
        }
    }
}
#endif

// MARK: Reports

extension MediaInspection {
    /// The segments as a report.
    var report: ReportValue { .array(segments.map(\.report)) }

    /// The segments as a table for people.
    var text: TerminalText {
        var lines = TextTable.lines(
            header: [
                "number", "start", "duration", "measured", "size", "bit rate", "key frames", "timestamp", "media",
            ],
            rows: segments.map(\.row)
        )
        if omittedCount > 0 {
            lines.append("\(QuantityText.count(omittedCount, "more segment")): use --segments to read more")
        }
        return lines.joined(separator: "\n")
    }
}

extension MediaInspection.Segment {
    fileprivate var report: ReportValue {
        var fields: KeyValuePairs<String, ReportValue?> = [:]
        switch media {
        case .success(let media):
            let duration = media.main?.range.duration
            fields = [
                "sequence": .integer(sequence),
                "start": .seconds(range.start),
                "declaredDuration": .seconds(range.duration),
                "duration": duration.map { .seconds($0) },
                "container": media.container.map { .string($0) },
                "bytes": .integer(Int64(clamping: media.byteCount)),
                "bitRate": media.bitRate(declared: range.duration).map { .integer($0.bitsPerSecond) },
                "tracks": .array(media.tracks.map(\.report)),
                "problems": media.problems.isEmpty ? nil : .strings(media.problems),
            ]
        case .failure(let failure):
            fields = [
                "sequence": .integer(sequence),
                "start": .seconds(range.start),
                "declaredDuration": .seconds(range.duration),
                "error": failure.report,
            ]
        }
        return .fields(fields)
    }

    fileprivate var row: [String] {
        let listed = [
            "\(sequence)", QuantityText.preciseClock(range.start), QuantityText.seconds(range.duration),
        ]
        switch media {
        case .failure(let failure): return listed + ["", "", "", "", "", "\(failure.message) (\(failure.code))"]
        case .success(let media):
            let main = media.main
            let rate = media.bitRate(declared: range.duration)
            let tracks = media.tracks.map(\.text)
            let words = (tracks.isEmpty ? [media.container ?? "no media"] : tracks) + media.problems
            return listed + [
                main.map { QuantityText.seconds($0.range.duration) } ?? "",
                "\(ByteCount(Int64(clamping: media.byteCount)))", rate?.description ?? "",
                main?.format.mediaType == .video ? "\(main?.keyFrameTimes.count ?? 0)" : "",
                main.map { QuantityText.preciseClock($0.range.start) } ?? "", words.joined(separator: ", "),
            ]
        }
    }
}

extension SegmentMedia.Track {
    /// The track as a report.
    fileprivate var report: ReportValue {
        guard case .object(let properties) = format.report else { return format.report }
        let measured = ReportValue.fields([
            "samples": .integer(Int64(clamping: sampleCount)),
            "bytes": .integer(Int64(clamping: byteCount)),
            "bitRate": SegmentMedia.bitRate(Int64(clamping: byteCount), range.duration).map {
                .integer($0.bitsPerSecond)
            },
            "duration": .seconds(range.duration),
            "firstTimestamp": .seconds(range.start),
            "lastTimestamp": .seconds(range.end),
            "firstDecodeTimestamp": .seconds(firstDecodeTime),
            "keyFrames": keyFrameTimes.isEmpty ? nil : .array(keyFrameTimes.map { .seconds($0) }),
        ])
        guard case .object(let values) = measured else { return format.report }
        return .object(properties + values)
    }

    /// The track in a few words.
    fileprivate var text: String {
        [format.mediaType.name, format.codec, format.size, format.language].compactMap { $0 }.joined(separator: " ")
    }
}

extension MediaTrack {
    /// The size of the video as it is shown, with its orientation; `nil` if it is unknown.
    var size: String? {
        guard let width = presentationWidth, let height = presentationHeight else { return nil }
        return "\(width)x\(height)" + (orientation.text.map { " (\($0))" } ?? "")
    }

    /// The track as a report.
    var report: ReportValue {
        .fields([
            "id": .integer(Int64(id)),
            "type": .string(mediaType.name),
            "codec": codec.map { .string($0) },
            "language": language.map { .string($0) },
            "name": name.map { .string($0) },
            "width": presentationWidth.map { .integer(Int64(clamping: $0)) },
            "height": presentationHeight.map { .integer(Int64(clamping: $0)) },
            "rotation": orientation.rotation == 0 ? nil : .integer(Int64(clamping: orientation.rotation)),
            "mirrored": orientation.isMirrored ? .bool(true) : nil,
            "sampleRate": sampleRate.map { .integer(Int64(clamping: $0)) },
            "channels": channelCount.map { .integer(Int64(clamping: $0)) },
            "encryption": encryptionScheme.map { .string($0) },
        ])
    }
}

extension MediaTrack.MediaType {
    /// The name in reports.
    var name: String { self == .subtitles ? "subtitles" : rawValue }
}
