import CFFmpeg
import MediaTiming
import SegmentFormat

/// Takes a media file apart that can be read at any place.
///
/// For files whose samples lie where a table says: progressive MP4, and Matroska, Ogg, WAVE, FLAC and MP3 as a whole.
/// Edit lists and samples that encoders put in front are minded as FFmpeg does. One thread uses it at a time.
final class FileDemuxer {
    let container: MediaContainer
    /// The tracks that can be decoded, at most ``SegmentDemuxer/mostTracks``.
    let tracks: [TrackFormat]

    private let reader: ContainerReader
    /// By the place of the stream in the file; `nil` for what is no picture, sound or text.
    private let formats: [TrackFormat?]
    private var failures = 0
    /// A packet that belongs to what follows.
    private var waiting: MediaPacket?

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - container: What it is.
    ///   - length: How many bytes it has; `nil` where that is not known.
    ///   - read: Reads bytes from an offset and returns how many; 0 at the end and where nothing can be read. It may block.
    /// - Throws: ``DecodingError`` where it holds no track that can be read.
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
            let kind = unsafe MediaTrack.Kind(parameters.pointee.codec_type)
            // A cover is no track that goes on with time.
            let isPicture = unsafe stream.pointee.disposition & AV_DISPOSITION_ATTACHED_PIC != 0
            guard kind == .video && !isPicture || kind == .audio || kind == .text else {
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
        guard !tracks.isEmpty else { throw DecodingError(.notReadable, "the file holds no track that can be read") }
    }

    /// How long the file is, as its header says.
    var duration: MediaTime? {
        let value = unsafe reader.context.pointee.duration
        return value > 0 ? MediaTime(value: value, timescale: Int64(AV_TIME_BASE)) : nil
    }

    /// When the first track begins, as far as the header says it.
    private var start: MediaTime {
        let none = cffmpeg_no_timestamp()
        let starts = unsafe zip(reader.streams, formats).compactMap { stream, format in
            unsafe stream.pointee.start_time == none ? nil : format?.time(stream.pointee.start_time)
        }
        return starts.min() ?? .zero
    }

    /// The next packet in the order of the file; `nil` at its end, and where too much of it cannot be read.
    func next() throws(DecodingError) -> MediaPacket? {
        if let packet = waiting {
            waiting = nil
            return packet
        }
        while failures < 64 {
            switch try reader.next() {
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

    /// Goes to the last place at or before a time at which decoding can begin.
    ///
    /// - Throws: ``DecodingError`` where the file cannot be sought in.
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
        guard status >= 0 else { throw DecodingError(status, "seeking in the file") }
    }

    /// Reads what belongs to a stretch that begins with a key frame, as the pieces of a file's index do.
    ///
    /// Pictures belong to the stretch in which the key frame before them lies; sound to that in which it begins. So
    /// stretches that follow each other hold each packet once.
    ///
    /// - Returns: Its packets; fewer where the bytes could not be read.
    /// - Throws: ``DecodingError`` where the file cannot be sought in.
    func packets(in range: MediaTimeRange) throws(DecodingError) -> DemuxedSegment {
        try seek(to: range.start)
        var result = DemuxedSegment()
        result.container = container
        result.tracks = tracks
        var open = Set(tracks.map(\.id))
        var isInside = Set<Int>()
        // What encoders put in front has times below that of the beginning, and belongs to it.
        let isFirst = range.start <= max(.zero, start)
        while !open.isEmpty, let packet = try next() {
            guard open.contains(packet.trackID) else { continue }
            let isVideo = formats[packet.trackID]?.kind == .video
            if !isVideo || packet.isKeyFrame {
                if packet.presentationTime >= range.end {
                    open.remove(packet.trackID)
                    continue
                }
                if isFirst || packet.presentationTime >= range.start { isInside.insert(packet.trackID) }
            }
            guard isInside.contains(packet.trackID) else { continue }
            guard result.packets.count < SegmentDemuxer.mostPackets else { break }
            result.packets.append(packet)
        }
        if failures > 0 { result.note("parts of the file could not be read") }
        return result
    }
}
