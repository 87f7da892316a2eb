import CFFmpeg
import MediaTiming
import PlaybackReporting
import SegmentFormat

/// A reader that splits packed audio into frames; its input may be split at arbitrary positions.
struct PackedAudioParser {
    /// A time base in which the period of the 90 kHz clock and of all common sample rates is a whole number of units.
    static let timeBase = AVRational(num: 1, den: 141_120_000)

    let container: MediaContainer
    var timestampUnwrapper = TimestampUnwrapper()
    /// The presentation time of the first frame if no ID3 tag declares one.
    var startTime: MediaTime?
    var decryptor: SampleAESDecryptor?
    /// The presentation time of the end of the audio in units of ``timeBase``, after which samples are not played; `nil` if
    /// all of them are.
    var endTime: Int64?
    /// A Boolean value that indicates whether the description at the start of the input declares the end of the audio.
    var appliesDeclaredEnd = false

    private let parser: FrameParser
    private var format: TrackFormat
    private var hasStarted = false
    /// The presentation time of the next frame, in units of ``timeBase``.
    private var nextTime: Int64 = 0
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
        format = Self.format(made)
        parser = try FrameParser(codec)
    }

    /// Returns the codec parameters from the header of a file; `nil` for formats whose frames describe themselves.
    static func codecParameters(
        header: UnsafeRawBufferPointer,
        container: MediaContainer
    ) throws(DecodingError) -> CodecParameters? {
        guard container == .flac else { return nil }
        let reader = try unsafe ContainerReader(MediaInput([header]), format: container)
        guard let stream = unsafe reader.streams.first, let parameters = unsafe stream.pointee.codecpar else {
            return nil
        }
        let made = unsafe try CodecParameters(copying: parameters)
        setFormat(of: made)
        return made
    }

    /// Returns the format of the only track.
    private static func format(_ parameters: CodecParameters) -> TrackFormat {
        var format = TrackFormat(id: 0, kind: .audio, timeBase: timeBase, parameters: parameters)
        // The frames of the other codecs determine their names.
        if parameters.codec == AV_CODEC_ID_FLAC { format.codec = "fLaC" }
        return format
    }

    /// Sets the sample rate and the number of channels, which FFmpeg leaves to the decoder, from STREAMINFO (RFC 9639 §8.2).
    private static func setFormat(of parameters: CodecParameters) {
        let information = parameters.extraData
        guard information.count >= 14 else { return }
        let rate = Int32(information[10]) << 12 | Int32(information[11]) << 4 | Int32(information[12]) >> 4
        unsafe parameters.pointer.pointee.sample_rate = rate
        // Bounded: three bits.
        let channelCount = Int32(information[12] >> 1 & 7) + 1
        unsafe av_channel_layout_default(&parameters.pointer.pointee.ch_layout, channelCount)
    }

    /// Appends bytes and returns the complete frames.
    mutating func append(_ bytes: UnsafeRawBufferPointer) throws(DecodingError) -> DemuxedSegment {
        var result = DemuxedSegment()
        result.container = container
        var offset = 0
        let span = unsafe bytes.bindMemory(to: UInt8.self).span
        var tags: [[UInt8]] = []
        for _ in 0..<16 {
            guard let tag = ID3Tag(span, at: offset), tag.byteCount <= bytes.count - offset else { break }
            if let timestamp = tag.transportTimestamp, !hasStarted {
                let time = TimestampUnwrapper.mediaTime(of: timestampUnwrapper.unwrap(timestamp))
                nextTime = time.units(in: Self.timeBase)
                hasStarted = true
            }
            let isTimestampOnly = tag.frames.count == 1 && tag.transportTimestamp != nil
            if !isTimestampOnly { unsafe tags.append(Array(bytes[offset..<offset + tag.byteCount])) }
            offset += tag.byteCount
        }
        if !hasStarted {
            nextTime = (startTime ?? .zero).units(in: Self.timeBase)
            hasStarted = true
        }
        for tag in tags {
            result.metadata.append(
                TimedMetadata(kind: .id3, time: MediaTime(nextTime, in: Self.timeBase), payload: tag)
            )
        }
        // FLAC without a separate initialization starts with its own header, which FFmpeg parses.
        if container == .flac, span.count - offset >= 4, unsafe bytes[offset] == UInt8(ascii: "f"),
            unsafe bytes[offset + 1] == UInt8(ascii: "L")
        {
            try unsafe readFLACHeader(UnsafeRawBufferPointer(rebasing: bytes[offset...]), offset: &offset)
        }
        try unsafe appendPackets(from: UnsafeRawBufferPointer(rebasing: bytes[offset...]), to: &result)
        result.tracks = [format]
        return result
    }

    /// Returns the last frame, whose length is known only at the end of the stream.
    mutating func finish() throws(DecodingError) -> DemuxedSegment {
        var result = DemuxedSegment()
        result.container = container
        try unsafe appendPackets(from: nil, to: &result)
        result.tracks = [format]
        return result
    }

    private mutating func readFLACHeader(_ bytes: UnsafeRawBufferPointer, offset: inout Int) throws(DecodingError) {
        if let parameters = try unsafe Self.codecParameters(header: bytes, container: .flac) {
            format = Self.format(parameters)
        }
        // Metadata blocks; the last one is flagged (RFC 9639 §8.1).
        var position = 4
        while bytes.count - position >= 4 {
            let isLast = unsafe bytes[position] & 0x80 != 0
            unsafe position +=
                4 + Int(bytes[position + 1]) << 16 + Int(bytes[position + 2]) << 8 + Int(bytes[position + 3])
            if isLast { break }
        }
        offset += min(position, bytes.count)
    }

    private mutating func appendPackets(
        from bytes: UnsafeRawBufferPointer?,
        to result: inout DemuxedSegment
    ) throws(DecodingError) {
        var packets: [MediaPacket] = []
        var problem: DecodingError?
        unsafe parser.forEachFrame(in: bytes) { frame in
            do throws(DecodingError) {
                if let packet = try self.makePacket(from: frame) { packets.append(packet) }
            } catch {
                problem = error
            }
            return problem == nil && packets.count < SegmentDemuxer.maximumPacketCount
        }
        if let problem { throw problem }
        result.packets += packets
    }

    private mutating func makePacket(from frame: FrameParser.Frame) throws(DecodingError) -> MediaPacket? {
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
            let information = unsafe MPEGAudioInfoFrame(frame.bytes.bindMemory(to: UInt8.self).span)
        {
            // The samples of the encoder delay have times before the start, and are not played.
            skippedSamples = information.delay
            if appliesDeclaredEnd, let count = information.sampleCount(samplesPerFrame: samples) {
                endTime = nextTime.addingSaturated(MediaTime(count, in: second).units(in: Self.timeBase))
            }
            nextTime =
                nextTime.subtractingReportingOverflow(
                    MediaTime(Int64(information.delay), in: second).units(in: Self.timeBase)
                ).partialValue
            return nil
        }
        if container == .flac, let position = frame.position {
            nextTime = MediaTime(position, in: second).units(in: Self.timeBase)
        }
        let made: UnsafeMutablePointer<AVPacket>
        if let decryptor {
            let opened = unsafe decryptor.decrypt(frame.bytes, codec: container == .aac ? .aac : .ac3)
            unsafe made = try unsafe PacketBuilder.makePacket(opened)
        } else {
            unsafe made = try unsafe PacketBuilder.makePacket(frame.bytes)
        }
        unsafe made.pointee.pts = nextTime
        unsafe made.pointee.dts = nextTime
        unsafe made.pointee.duration = duration
        unsafe made.pointee.flags |= AV_PKT_FLAG_KEY
        var skippedAtEnd: Int64 = 0
        if let endTime {
            let excess = nextTime.addingSaturated(duration).subtractingSaturated(endTime)
            if excess >= duration {
                unsafe made.pointee.flags |= AV_PKT_FLAG_DISCARD
            } else if excess > 0 {
                skippedAtEnd = MediaTime(excess, in: Self.timeBase).units(in: second)
                unsafe made.pointee.duration = duration.subtractingSaturated(excess)
            }
        }
        if skippedSamples > 0 || skippedAtEnd > 0 {
            unsafe PacketBuilder.setSkippedSampleCount(
                UInt32(clamping: skippedSamples),
                atEnd: UInt32(clamping: skippedAtEnd),
                of: made
            )
            skippedSamples = 0
        }
        nextTime = nextTime.addingReportingOverflow(duration).partialValue
        return unsafe MediaPacket(owning: made, trackID: 0, timeBase: Self.timeBase)
    }
}
