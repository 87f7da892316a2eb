import CFFmpeg
import MediaTiming
import SegmentFormat

/// A demuxer for media files with random access.
///
/// It reads files whose samples are located by an index: progressive MP4, and complete Matroska, Ogg, WAVE, FLAC and
/// MP3 files. FFmpeg applies edit lists and removes encoder priming. Use it from one thread at a time.
final class FileDemuxer {
    let container: MediaContainer
    /// The decodable tracks, at most ``SegmentDemuxer/maximumTrackCount``.
    let tracks: [TrackFormat]

    private let reader: ContainerReader
    /// The track formats by stream index; `nil` for streams other than video, audio and subtitles.
    private let formats: [TrackFormat?]
    private var failures = 0
    /// A packet to return before the next one is read.
    private var waiting: MediaPacket?

    /// Opens a file and reads its header.
    ///
    /// - Parameters:
    ///   - container: The container format.
    ///   - length: The length of the file in bytes; `nil` if unknown.
    ///   - read: A function that reads bytes from an offset into a buffer and returns their number, 0 at the end and on
    ///     failure. It may block.
    /// - Throws: ``DecodingError`` if the file contains no readable track.
    init(_ container: MediaContainer, length: Int64?, read: @escaping MediaInput.Read) throws(DecodingError) {
        self.container = container
        reader = try unsafe ContainerReader(MediaInput(length: length, read: read), format: container)
        var formats: [TrackFormat?] = []
        let streams = unsafe reader.streams
        for index in unsafe streams.indices {
            let stream = unsafe streams[index]
            guard let parameters = unsafe stream.pointee.codecpar else {
                formats.append(nil)
                continue
            }
            let kind = unsafe MediaTrack.MediaType(parameters.pointee.codec_type)
            // Cover art is not timed media.
            let isPicture = unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
            guard kind == .video && !isPicture || kind == .audio || kind == .subtitles else {
                formats.append(nil)
                unsafe stream.pointee.discard = AVDISCARD_ALL
                continue
            }
            var format = unsafe TrackFormat(
                id: formats.count,
                kind: kind,
                timeBase: stream.pointee.time_base,
                parameters: try CodecParameters(copying: parameters)
            )
            format.language = unsafe ContainerReader.language(stream)
            formats.append(format)
        }
        self.formats = formats
        tracks = formats.compactMap { $0 }
        guard !tracks.isEmpty else {
            throw DecodingError(status: .notReadable, operation: "the file contains no readable track")
        }
    }

    /// The duration that the header declares; `nil` if it declares none.
    var duration: MediaTime? {
        let value = unsafe reader.context.pointee.duration
        return value > 0 ? MediaTime(value: value, timescale: Int64(AV_TIME_BASE)) : nil
    }

    /// The earliest start time that the header declares for a track; zero if it declares none.
    private var start: MediaTime {
        let none = cffmpeg_no_timestamp()
        let starts = unsafe zip(reader.streams, formats).compactMap { stream, format in
            unsafe stream.pointee.start_time == none ? nil : format?.mediaTime(ofTimestamp: stream.pointee.start_time)
        }
        return starts.min() ?? .zero
    }

    /// Returns the next packet in file order; `nil` at the end of the file and after 64 read errors.
    func readPacket() throws(DecodingError) -> MediaPacket? {
        if let packet = waiting {
            waiting = nil
            return packet
        }
        while failures < 64 {
            switch try reader.readPacket() {
            case .packet(let packet):
                let index = unsafe Int(packet.pointee.stream_index)
                if index >= 0, index < formats.count, unsafe packet.pointee.size > 0, let format = formats[index] {
                    return unsafe MediaPacket(owning: packet, trackID: format.id, timeBase: format.timeBase)
                }
                var unused: UnsafeMutablePointer<AVPacket>? = unsafe packet
                unsafe av_packet_free(&unused)
            case .end: return nil
            case .failed: failures += 1
            }
        }
        return nil
    }

    /// Seeks to the last position at or before a time at which decoding can start.
    ///
    /// - Throws: ``DecodingError`` if the file does not support seeking.
    func seek(to time: MediaTime) throws(DecodingError) {
        waiting = nil
        failures = 0
        let index = formats.firstIndex { $0?.kind == .video } ?? formats.firstIndex { $0 != nil } ?? 0
        let base = formats[index]?.timeBase ?? .ninetyKilohertz
        let status = unsafe av_seek_frame(
            reader.context,
            Int32(clamping: index),
            time.units(in: base),
            AVSEEK_FLAG_BACKWARD
        )
        guard status >= 0 else { throw DecodingError(status: status, operation: "seeking in the file") }
    }

    /// Returns the packets of a time range that starts at a key frame, as the ranges of a file index do.
    ///
    /// Video packets belong to the range that contains the preceding key frame, audio packets to the range in which
    /// they start. Therefore consecutive ranges contain each packet once.
    ///
    /// - Returns: The packets; some are missing if their bytes could not be read.
    /// - Throws: ``DecodingError`` if the file does not support seeking.
    func packets(in range: MediaTimeRange) throws(DecodingError) -> DemuxedSegment {
        try seek(to: range.start)
        var result = DemuxedSegment()
        result.container = container
        result.tracks = tracks
        var remainingTrackIDs = Set(tracks.map(\.id))
        var startedTrackIDs = Set<Int>()
        // Encoder priming has times before the start of the file and belongs to the first range.
        let isFirst = range.start <= max(.zero, start)
        while !remainingTrackIDs.isEmpty, let packet = try readPacket() {
            guard remainingTrackIDs.contains(packet.trackID) else { continue }
            let isVideo = formats[packet.trackID]?.kind == .video
            if !isVideo || packet.isKeyFrame {
                if packet.presentationTime >= range.end {
                    remainingTrackIDs.remove(packet.trackID)
                    continue
                }
                if isFirst || packet.presentationTime >= range.start { startedTrackIDs.insert(packet.trackID) }
            }
            guard startedTrackIDs.contains(packet.trackID) else { continue }
            guard result.packets.count < SegmentDemuxer.maximumPacketCount else { break }
            result.packets.append(packet)
        }
        if failures > 0 { result.recordProblem("parts of the file could not be read") }
        return result
    }
}
