import CFFmpeg
import MediaTiming
import PlaybackReporting
import SegmentFormat

/// A reader that splits packed audio into frames; its input may be split at arbitrary positions.
struct PackedAudioReading {
    /// A time base in which the period of the 90 kHz clock and of all common sample rates is a whole number of units.
    static let timeBase = AVRational(num: 1, den: 141_120_000)

    let container: MediaContainer
    var wrap = TimestampWrap()
    /// The presentation time of the first frame if no ID3 tag declares one.
    var startTime: MediaTime?
    var opening: SampleAES?

    private let parser: FrameParser
    private var format: TrackFormat
    private var isBegun = false
    /// The presentation time of the next frame, in units of ``timeBase``.
    private var next: Int64 = 0
    /// The number of samples at the start of the next packet that are decoded but not played.
    private var skippedSamples = 0

    init(_ container: MediaContainer, parameters: CodecParameters? = nil) throws(DecodingError) {
        self.container = container
        let codec: AVCodecID =
            switch container {
            case .aac: AV_CODEC_ID_AAC
            case .mpegAudio: AV_CODEC_ID_MP3
            case .ac3: AV_CODEC_ID_AC3
            case .flac: AV_CODEC_ID_FLAC
            default: AV_CODEC_ID_EAC3
            }
        let made: CodecParameters
        if let parameters {
            made = parameters
        } else {
            made = try CodecParameters()
            unsafe made.pointer.pointee.codec_type = AVMEDIA_TYPE_AUDIO
            unsafe made.pointer.pointee.codec_id = codec
        }
        format = TrackFormat(id: 0, kind: .audio, timeBase: Self.timeBase, parameters: made)
        parser = try FrameParser(codec)
    }

    /// Returns the codec parameters from the header of a file; `nil` for formats whose frames describe themselves.
    static func parameters(
        _ header: UnsafeRawBufferPointer,
        _ container: MediaContainer
    ) throws(DecodingError) -> CodecParameters? {
        guard container == .flac else { return nil }
        let reader = try unsafe ContainerReader(MediaInput([header]), format: container)
        guard let stream = unsafe reader.streams.first, let parameters = unsafe stream.pointee.codecpar else {
            return nil
        }
        return unsafe try CodecParameters(copying: parameters)
    }

    /// Appends bytes and returns the complete frames.
    mutating func add(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) -> DemuxedSegment {
        var result = DemuxedSegment()
        result.container = container
        var offset = 0
        let span = unsafe bytes.bindMemory(to: UInt8.self).span
        var tags: [[UInt8]] = []
        for _ in 0..<16 {
            guard let tag = ID3Tag(span, at: offset), tag.byteCount <= bytes.count - offset else { break }
            if let timestamp = tag.transportTimestamp, !isBegun {
                let time = TimestampWrap.time(wrap.unroll(timestamp))
                next = time.units(in: Self.timeBase)
                isBegun = true
            }
            let isTimestampOnly = tag.frames.count == 1 && tag.transportTimestamp != nil
            if !isTimestampOnly { unsafe tags.append(Array(bytes[offset..<offset + tag.byteCount])) }
            offset += tag.byteCount
        }
        if !isBegun {
            next = (startTime ?? .zero).units(in: Self.timeBase)
            isBegun = true
        }
        for tag in tags {
            result.metadata.append(TimedMetadata(kind: .id3, time: MediaTime(next, in: Self.timeBase), payload: tag))
        }
        // FLAC without a separate initialization starts with its own header, which FFmpeg parses.
        if container == .flac, span.count - offset >= 4, unsafe bytes[offset] == UInt8(ascii: "f"),
            unsafe bytes[offset + 1] == UInt8(ascii: "L")
        {
            try unsafe takeHeader(UnsafeRawBufferPointer(rebasing: bytes[offset...]), &offset)
        }
        try unsafe cut(UnsafeRawBufferPointer(rebasing: bytes[offset...]), &result)
        result.tracks = [format]
        return result
    }

    /// Returns the last frame, whose end only the end of the stream marks.
    mutating func finish() throws(DecodingError) -> DemuxedSegment {
        var result = DemuxedSegment()
        result.container = container
        try unsafe cut(nil, &result)
        result.tracks = [format]
        return result
    }

    private mutating func takeHeader(_ bytes: UnsafeRawBufferPointer, _ offset: inout Int) throws(DecodingError) {
        if let parameters = try unsafe Self.parameters(bytes, .flac) {
            format = TrackFormat(id: 0, kind: .audio, timeBase: Self.timeBase, parameters: parameters)
        }
        // Metadata blocks; the last one is flagged (RFC 9639 §8.1).
        var place = 4
        while bytes.count - place >= 4 {
            let isLast = unsafe bytes[place] & 0x80 != 0
            unsafe place += 4 + Int(bytes[place + 1]) << 16 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
            if isLast { break }
        }
        offset += min(place, bytes.count)
    }

    private mutating func cut(_ bytes: UnsafeRawBufferPointer?, _ result: inout DemuxedSegment) throws(DecodingError) {
        var packets: [MediaPacket] = []
        var problem: DecodingError?
        unsafe parser.cut(bytes) { frame in
            do throws(DecodingError) {
                if let packet = try self.packet(frame) { packets.append(packet) }
            } catch {
                problem = error
            }
            return problem == nil && packets.count < SegmentDemuxer.mostPackets
        }
        if let problem { throw problem }
        result.packets += packets
    }

    private mutating func packet(_ frame: FrameParser.Frame) throws(DecodingError) -> MediaPacket? {
        var samples = frame.sampleCount
        var sampleRate = frame.sampleRate
        if let header = unsafe AudioFrameHeader(frame.bytes.bindMemory(to: UInt8.self).span), container != .flac {
            if header.samplesPerFrame > 0 { samples = header.samplesPerFrame }
            sampleRate = header.sampleRate
            if format.sampleRate == 0 {
                format.sampleRate = header.sampleRate
                format.channelCount = header.channelCount ?? 0
                format.codec = header.codec
            }
        } else if container != .flac {
            return nil
        }
        guard sampleRate > 0 else { return nil }
        let second = AVRational(num: 1, den: Int32(clamping: sampleRate))
        let duration = MediaTime(Int64(samples), in: second).units(in: Self.timeBase)
        if container == .mpegAudio,
            let information = unsafe MPEGAudioInformation(frame.bytes.bindMemory(to: UInt8.self).span)
        {
            // The encoder delay has times before the start and is not played.
            skippedSamples = information.delay
            next =
                next.subtractingReportingOverflow(
                    MediaTime(Int64(information.delay), in: second).units(in: Self.timeBase)
                ).partialValue
            return nil
        }
        if container == .flac, let place = frame.position {
            next = MediaTime(place, in: second).units(in: Self.timeBase)
        }
        let made: UnsafeMutablePointer<AVPacket>
        if let opening {
            let opened = unsafe opening.opened(frame.bytes, container == .aac ? .aac : .ac3)
            unsafe made = try unsafe PacketBuilding.packet(opened)
        } else {
            unsafe made = try unsafe PacketBuilding.packet(frame.bytes)
        }
        unsafe made.pointee.pts = next
        unsafe made.pointee.dts = next
        unsafe made.pointee.duration = duration
        unsafe made.pointee.flags |= AV_PKT_FLAG_KEY
        if skippedSamples > 0 {
            unsafe PacketBuilding.skip(UInt32(clamping: skippedSamples), atStartOf: made)
            skippedSamples = 0
        }
        next = next.addingReportingOverflow(duration).partialValue
        return unsafe MediaPacket(owning: made, trackID: 0, timeBase: Self.timeBase)
    }
}
