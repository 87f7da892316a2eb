import CFFmpeg
import Foundation
import HLSPlaylist
import MediaTiming
package import SegmentFormat
import StreamingEngine

/// An exporter of streams to a media file, without decoding and encoding.
///
/// The timestamps of the file begin at zero and continue over discontinuities, at the times that the playlists declare. Zero is the
/// start of the video, or of the first audio if there is no video; audio and subtitles before it are left out.
package actor MediaExporter {
    private let thread = DecodingThread(name: "export")

    /// The executor of the thread that reads and writes the media.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe thread.asUnownedSerialExecutor() }

    /// Creates an exporter.
    package init() {}

    /// Writes a media file; its tracks have the order of the sources.
    ///
    /// The file has its name only after it is complete. After an error or a cancellation, nothing is left behind.
    ///
    /// - Parameters:
    ///   - sources: The media to export, with at most one video track.
    ///   - title: The title of the file.
    ///   - metadata: The metadata whose artist and album the file has; empty for none.
    ///   - cover: The image that players show for the file; `nil` for none.
    ///   - path: The absolute path of the file, which is replaced if it exists.
    ///   - type: The type of the file.
    /// - Throws: ``DecodingError`` if the media cannot be read or written to a file of this type; the error of the
    ///   reader of a source; `CancellationError`.
    package func export(
        _ sources: [ExportSource],
        title: String?,
        metadata: MediaFileMetadata = MediaFileMetadata(),
        cover: CoverImage? = nil,
        to path: String,
        as type: MediaFileType
    ) async throws {
        let file = URL(fileURLWithPath: path)
        let temporary = file.deletingLastPathComponent()
            .appendingPathComponent(".\(file.lastPathComponent).\(ProcessInfo.processInfo.processIdentifier)").path
        do {
            try await write(
                sources,
                title: title,
                metadata: metadata,
                cover: cover,
                to: temporary,
                namedLater: path,
                as: type
            )
            try Task.checkCancellation()
            guard unsafe rename(temporary, path) == 0 else {
                throw DecodingError(errorNumber: errno, operation: "\(path) cannot be written")
            }
        } catch {
            unsafe unlink(temporary)
            throw error
        }
    }

    /// Calls a closure with the cues of each source with subtitles, whose times begin with those of the media.
    ///
    /// The cues of a source are read after the closure returned for the one before, so that only those of one are in memory.
    ///
    /// - Parameters:
    ///   - sources: The subtitles, and the media that determines their times.
    ///   - body: The closure, which is called on the thread of the exporter with the number of each source among those with subtitles,
    ///     beginning with 0.
    /// - Throws: `DecodingError` if the media cannot be read, and the errors of the sources and of the closure.
    package func forEachSubtitles(
        of sources: [ExportSource],
        _ body: @Sendable (_ number: Int, _ cues: [SubtitleCue]) throws -> Void
    ) async throws {
        let preparation = try await ExportPreparation(sources)
        let fileCues = try await self.fileCues(of: sources)
        for (number, source) in sources.filter({ $0.contents == .subtitles }).enumerated() {
            try body(number, try await cues(of: source, preparation, fileCues))
        }
    }

    /// Returns the cues of all subtitle tracks of a media file, which is read once for all of them.
    ///
    /// - Parameter sources: The media to export.
    /// - Returns: The cues of the tracks; empty if no track of a file is exported.
    /// - Throws: ``DecodingError`` if the media cannot be read, and the errors of the source.
    private func fileCues(of sources: [ExportSource]) async throws -> [FileTrack: SubtitleTimeline] {
        guard let source = sources.first(where: { $0.contents == .subtitles && $0.fileTrack != nil }) else {
            return [:]
        }
        var timelines: [FileTrack: SubtitleTimeline] = [:]
        var demuxers = DemuxerPool()
        var position = source.nextPosition(from: 0)
        while let current = position {
            try Task.checkCancellation()
            position = source.nextPosition(from: current + 1)
            let piece = try await source.reader.segment(at: current)
            guard case .media(let bytes, let initialization) = piece.content else { continue }
            let segment = try demuxers.demux(piece, bytes, initialization)
            let offset = MediaTime.zero - (piece.filePosition?.firstTimestamp ?? .zero)
            for (track, cues) in FileSubtitles.cues(of: segment, offset: offset) {
                timelines[track, default: SubtitleTimeline()].insert(cues)
            }
        }
        return timelines
    }

    private func cues(
        of source: ExportSource,
        _ preparation: ExportPreparation,
        _ fileCues: [FileTrack: SubtitleTimeline]
    ) async throws -> [SubtitleCue] {
        var timeline = SubtitleTimeline()
        if let track = source.fileTrack {
            timeline = fileCues[track] ?? timeline
        } else {
            try await insertSegments(of: source, preparation, into: &timeline)
        }
        let (start, last) = (preparation.start, preparation.end)
        return timeline.cues.compactMap { cue in
            var cue = cue
            // A cue is shown until the end of the media. Durations of playlists are rounded, so that later cues may be shown as well.
            let end = cue.timeRange.start < last ? min(last, cue.timeRange.end) : cue.timeRange.end
            cue.timeRange = MediaTimeRange(start: max(start, cue.timeRange.start), end: end)
            return cue.timeRange.end > start ? cue.shifted(by: .zero - start) : nil
        }
    }

    private func insertSegments(
        of source: ExportSource,
        _ preparation: ExportPreparation,
        into timeline: inout SubtitleTimeline
    ) async throws {
        var position = source.nextPosition(from: 0)
        while let current = position {
            try Task.checkCancellation()
            position = source.nextPosition(from: current + 1)
            guard let segment = try SubtitleSegment(try await source.reader.segment(at: current)) else { continue }
            timeline.insert(segment.cues(offset: preparation.mapping.offset(ofSequence: segment.sequence)))
        }
    }

    private func write(
        _ sources: [ExportSource],
        title: String?,
        metadata: MediaFileMetadata,
        cover: CoverImage?,
        to path: String,
        namedLater destination: String,
        as type: MediaFileType
    ) async throws {
        let preparation = try await ExportPreparation(sources)
        let writer = try MediaFileWriter(path: path, destination: destination, type: type)
        if let title { writer.setTitle(title) }
        writer.setArtistAndAlbum(of: metadata)
        try addChapters(of: sources, preparation, to: writer)
        let fileCues = try await self.fileCues(of: sources)
        var media: [MediaOutput] = []
        var texts: [SubtitleTrack] = []
        let hasDefaultAudio = sources.contains { $0.contents != .subtitles && $0.properties.isDefault }
        for (index, source) in sources.enumerated() {
            if source.contents == .subtitles {
                let cues = try await self.cues(of: source, preparation, fileCues)
                let packets = SubtitlePackets(cues, for: type, of: source.properties)
                texts.append(try SubtitleTrack(packets, track: writer.addSubtitles(source.properties)))
                continue
            }
            let tracks = preparation.tracks[index]
            let video = try tracks?.video.map { try TrackWriter($0, .init(), to: writer) }
            var properties = source.properties
            if !hasDefaultAudio, !media.contains(where: { $0.audio != nil }) { properties.isDefault = true }
            let audio = try tracks?.audio.map { try TrackWriter($0, properties, to: writer) }
            guard video != nil || audio != nil else { continue }
            let delay = preparation.delays[index] ?? .zero
            media.append(MediaOutput(source: source, delay: delay, video: video, audio: audio))
        }
        guard !media.isEmpty || !texts.isEmpty else {
            throw DecodingError(status: .notReadable, operation: "there are no tracks to export")
        }
        if let cover { try writer.addCover(cover) }
        try writer.begin()
        try await writeSegments(of: &media, &texts, preparation, to: writer)
        try writer.finish()
    }

    /// The tracks of a source with media.
    private struct MediaOutput {
        let source: ExportSource
        /// The time by which the source begins after the main source.
        let delay: MediaTime
        let video: TrackWriter?
        let audio: TrackWriter?
        var demuxers = DemuxerPool()
        /// The position of the next segment; `nil` at the end.
        var position: Int?

        init(source: ExportSource, delay: MediaTime, video: TrackWriter?, audio: TrackWriter?) {
            self.source = source
            self.delay = delay
            self.video = video
            self.audio = audio
            position = source.nextPosition(from: 0)
        }

        /// The start of the next segment on the timeline of the main source; `nil` at the end.
        var nextStart: MediaTime? { position.map { source.reader.playlist.segments[$0].start + delay } }
    }

    /// A subtitle track.
    private struct SubtitleTrack {
        private var packets: SubtitlePackets
        let track: Int32
        /// The next packet; `nil` at the end.
        private(set) var next: SubtitlePacket?

        init(_ packets: SubtitlePackets, track: Int32) throws(DecodingError) {
            self.packets = packets
            self.track = track
            try advance()
        }

        /// Makes the packet after the next one.
        mutating func advance() throws(DecodingError) { next = try packets.next() }
    }

    private func writeSegments(
        of media: inout [MediaOutput],
        _ texts: inout [SubtitleTrack],
        _ preparation: ExportPreparation,
        to writer: MediaFileWriter
    ) async throws {
        var mapping = preparation.mapping
        // Always the source that is behind the others, so that the file has the media in the order of time.
        while let (index, start) = media.enumerated()
            .compactMap({ entry in entry.element.nextStart.map { (entry.offset, $0) } })
            .min(by: { $0.1 < $1.1 }), let position = media[index].position
        {
            try Task.checkCancellation()
            try Self.writeSubtitles(&texts, until: start - preparation.start, to: writer)
            let source = media[index].source
            media[index].position = source.nextPosition(from: position + 1)
            let piece = try await source.reader.segment(at: position)
            guard
                let segment = try DecodableSegment(
                    piece,
                    source.contents,
                    track: source.fileTrack,
                    &media[index].demuxers
                )
            else { continue }
            for (samples, track) in [(segment.video, media[index].video), (segment.audio, media[index].audio)] {
                guard let samples, let track else { continue }
                let input = segment.mappingInput(for: samples).delayed(by: media[index].delay)
                let offset = mapping.offset(of: input)
                try track.write(samples, offset: offset - preparation.start)
            }
        }
        try Self.writeSubtitles(&texts, until: nil, to: writer)
    }

    /// Writes the subtitles that start before a time, or all of them.
    private static func writeSubtitles(
        _ texts: inout [SubtitleTrack],
        until time: MediaTime?,
        to writer: MediaFileWriter
    ) throws {
        let limit = time?.units(in: MediaFileWriter.textTimeBase) ?? .max
        for index in texts.indices {
            while let subtitle = texts[index].next, subtitle.start < limit {
                try texts[index].advance()
                let packet = try unsafe PacketBuilder.makePacket(subtitle.bytes)
                unsafe packet.pointee.pts = subtitle.start
                unsafe packet.pointee.dts = subtitle.start
                unsafe packet.pointee.duration = subtitle.duration
                unsafe packet.pointee.flags |= AV_PKT_FLAG_KEY
                try unsafe writer.write(packet, track: texts[index].track, timeBase: MediaFileWriter.textTimeBase)
            }
        }
    }

    /// Adds the date ranges of the main source as chapters, except for interstitials and preload instructions.
    ///
    /// A chapter ends with its date range, but not after the start of the next one.
    private func addChapters(
        of sources: [ExportSource],
        _ preparation: ExportPreparation,
        to writer: MediaFileWriter
    ) throws {
        guard let main = ExportPreparation.mainIndex(sources) else { return }
        let (first, last) = (preparation.start, preparation.end)
        let excluded: Set = [Interstitial.classIdentifier, DateRangePreload.classIdentifier]
        let ranges = sources[main].reader.dateRanges.compactMap { range in
            range.start.map { (range: range, start: max($0, first)) }
        }.filter { $0.start < last && !excluded.contains($0.range.classIdentifier ?? "") }
            .sorted { $0.start < $1.start }
        for (index, entry) in ranges.enumerated() {
            var end = index + 1 < ranges.count ? ranges[index + 1].start : last
            if let date = entry.range.endDate, let start = entry.range.start {
                end = min(end, start + (date.sinceEpoch - entry.range.startDate.sinceEpoch))
            }
            guard end > entry.start else { continue }
            let attributes = entry.range.attributes
            try writer.addChapter(
                attributes["X-TITLE"] ?? entry.range.classIdentifier ?? entry.range.id,
                start: (entry.start - first).units(in: MediaFileWriter.textTimeBase),
                end: (end - first).units(in: MediaFileWriter.textTimeBase)
            )
        }
    }
}
