import CFFmpeg
import MediaTiming
import PlaybackReporting
import SegmentFormat

/// The operation of reading all packets of a container that FFmpeg demuxes.
@safe struct ContainerPacketCollector {
    private let reader: ContainerReader
    private let container: MediaContainer
    /// The state for unwrapping the timestamps of transport streams; `nil` for other containers.
    var timestampUnwrapper: TimestampUnwrapper?
    /// The decryptor for the samples of ``encryptedTracks``.
    var decryptor: SampleAESDecryptor?
    var encryptedTracks: Set<Int> = []
    /// The offset that is added to all timestamps.
    var timeOffset = MediaTime.zero

    private var result = DemuxedSegment()
    /// The end of the last packet of each track, in units of its time base.
    private var packetEnds: [Int: Int64] = [:]
    private var frameSizes: [Int: (width: Int, height: Int)] = [:]
    private var rawPackets: [Int: [UnsafeMutablePointer<AVPacket>]] = unsafe [:]
    private var packetOrder: [(track: Int, index: Int)] = []
    /// The number of bytes that further packets may have.
    private var remainingPacketSize: Int64

    /// The number of bytes by which all packets together may exceed twice the size of the segment.
    ///
    /// Packets are copies of parts of the segment, but compressed ones of Matroska files are larger. The tables of a
    /// movie can name the same bytes millions of times.
    private static let additionalPacketSize: Int64 = 16 << 20

    init(_ reader: ContainerReader, container: MediaContainer) {
        self.reader = reader
        self.container = container
        remainingPacketSize = reader.inputLength.map { $0 *| 2 +| Self.additionalPacketSize } ?? .max
        result.container = container
    }

    /// Reads all packets up to the end of the container.
    mutating func readAll() throws(DecodingError) -> DemuxedSegment {
        defer { freeRawPackets() }
        var failures = 0
        while true {
            switch try reader.readPacket() {
            case .packet(let packet):
                let size = unsafe Int64(max(0, packet.pointee.size))
                remainingPacketSize -|= size
                unsafe appendPacket(packet)
                if remainingPacketSize <= 0 {
                    result.recordProblem("the packets are together more than twice as large as the segment")
                    try finish()
                    return result
                }
                if packetOrder.count >= SegmentDemuxer.maximumPacketCount {
                    result.recordProblem("the segment has more than \(SegmentDemuxer.maximumPacketCount) packets")
                    try finish()
                    return result
                }
            case .end:
                try finish()
                return result
            case .failed(let status):
                // Some demuxers skip data that they cannot read; the number of failures is limited so that the loop
                // ends.
                failures += 1
                result.recordProblem(DecodingError(status: status, operation: "reading the segment").message)
                if failures >= 16 {
                    try finish()
                    return result
                }
            }
        }
    }

    private mutating func appendPacket(_ packet: UnsafeMutablePointer<AVPacket>) {
        let index = unsafe Int(packet.pointee.stream_index)
        if unsafe packet.pointee.size <= 0 || index >= SegmentDemuxer.maximumTrackCount || index < 0 {
            var unused: UnsafeMutablePointer<AVPacket>? = unsafe packet
            unsafe av_packet_free(&unused)
            return
        }
        // Only for transport streams: in other formats, FFmpeg also flags the last packet of a portion that ends before
        // the length that its header declares.
        if timestampUnwrapper != nil, unsafe packet.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 {
            result.recordProblem("packets of the stream are missing or damaged")
        }
        unsafe unwrapTimestamps(of: packet)
        recordFrameSize(index)
        if unsafe packet.pointee.duration <= 0 { unsafe packet.pointee.duration = unsafe duration(of: packet, index) }
        let none = cffmpeg_no_timestamp()
        if unsafe packet.pointee.dts == none, unsafe packet.pointee.pts == none {
            unsafe packet.pointee.dts = packetEnds[index] ?? none
        }
        let start = unsafe packet.pointee.dts != none ? packet.pointee.dts : packet.pointee.pts
        if start != none {
            packetEnds[index] = unsafe start.addingReportingOverflow(max(0, packet.pointee.duration)).partialValue
        }
        unsafe packetOrder.append((index, rawPackets[index, default: []].count))
        unsafe rawPackets[index, default: []].append(packet)
    }

    private mutating func unwrapTimestamps(of packet: UnsafeMutablePointer<AVPacket>) {
        guard var timestampUnwrapper else { return }
        let none = cffmpeg_no_timestamp()
        if unsafe packet.pointee.dts != none {
            unsafe packet.pointee.dts = unsafe timestampUnwrapper.unwrap(UInt64(bitPattern: packet.pointee.dts))
        }
        if unsafe packet.pointee.pts != none {
            unsafe packet.pointee.pts = unsafe timestampUnwrapper.unwrap(UInt64(bitPattern: packet.pointee.pts))
        }
        self.timestampUnwrapper = timestampUnwrapper
    }

    /// Stores the frame size that the parser of a stream has found; FFmpeg frees the parser at the end of the stream.
    private mutating func recordFrameSize(_ index: Int) {
        guard timestampUnwrapper != nil, frameSizes[index] == nil,
            unsafe index < Int(reader.context.pointee.nb_streams),
            let stream = unsafe reader.context.pointee.streams?[index],
            let parser = unsafe av_stream_get_parser(stream),
            unsafe parser.pointee.width > 0
        else { return }
        frameSizes[index] = unsafe (Int(parser.pointee.width), Int(parser.pointee.height))
    }

    /// Returns the duration of an audio frame from its own header, in units of the time base; 0 if unknown.
    ///
    /// FFmpeg would have to read far ahead to determine it.
    private func duration(of packet: UnsafeMutablePointer<AVPacket>, _ index: Int) -> Int64 {
        guard timestampUnwrapper != nil, unsafe index < Int(reader.context.pointee.nb_streams),
            let streams = unsafe reader.context.pointee.streams,
            let stream = unsafe streams[index], unsafe stream.pointee.codecpar?.pointee.codec_type == AVMEDIA_TYPE_AUDIO
        else { return 0 }
        let bytes = unsafe UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
        return unsafe AudioFrameHeader(bytes.bindMemory(to: UInt8.self).span)?.duration.units(
            in: stream.pointee.time_base
        )
            ?? 0
    }

    private mutating func freeRawPackets() {
        for track in unsafe Array(rawPackets.keys) {
            let packets = unsafe rawPackets[track] ?? []
            for index in unsafe packets.indices {
                var packet: UnsafeMutablePointer<AVPacket>? = unsafe packets[index]
                unsafe av_packet_free(&packet)
            }
        }
        unsafe rawPackets = unsafe [:]
    }

    // MARK: Track formats

    private mutating func finish() throws(DecodingError) {
        var wrapped: [Int: [MediaPacket?]] = [:]
        let streams = unsafe reader.streams
        for index in unsafe streams.indices {
            let stream = unsafe streams[index]
            guard let parameters = unsafe stream.pointee.codecpar,
                unsafe !ContainerReader.isAttachedImage(stream)
            else { continue }
            let kind = unsafe MediaTrack.MediaType(parameters.pointee.codec_type)
            let packets = unsafe rawPackets.removeValue(forKey: index) ?? []
            var format = unsafe TrackFormat(
                id: trackID(of: stream),
                kind: kind,
                timeBase: stream.pointee.time_base,
                parameters: try CodecParameters(copying: parameters)
            )
            format.language = unsafe ContainerReader.language(stream)
            format.orientation = unsafe ContainerReader.orientation(stream)
            let opened = try unsafe self.decrypt(packets, of: format)
            unsafe Self.fillDurations(opened, kind)
            if kind == .video, format.reorderDepth == 0 {
                format.reorderDepth = unsafe FrameReordering.depth(
                    ofPresentationTimes: opened.map { unsafe $0.pointee.pts }
                )
            }
            if timeOffset != .zero { unsafe offsetTimestamps(of: opened, by: timeOffset.units(in: format.timeBase)) }
            unsafe completeFormat(&format, stream: stream, packets: opened)
            wrapped[index] = unsafe opened.map { packet in
                let none = cffmpeg_no_timestamp()
                let wrapped = unsafe MediaPacket(owning: packet, trackID: format.id, timeBase: format.timeBase)
                return unsafe packet.pointee.pts == none && packet.pointee.dts == none ? nil : wrapped
            }
            if kind == .metadata {
                appendMetadata(wrapped[index] ?? [], format: format)
                wrapped[index] = []
            } else if kind == .video || kind == .audio || kind == .subtitles {
                result.tracks.append(format)
            }
        }
        for position in packetOrder {
            guard let list = wrapped[position.track], position.index < list.count, let packet = list[position.index]
            else {
                continue
            }
            result.packets.append(packet)
        }
        if result.tracks.isEmpty {
            throw DecodingError(status: .notReadable, operation: "the segment contains no readable track")
        }
    }

    /// Returns the track identifier of a stream.
    ///
    /// FFmpeg does not report the track numbers of Matroska files, which muxers assign in ascending order from 1.
    private func trackID(of stream: UnsafeMutablePointer<AVStream>) -> Int {
        switch container {
        case .matroska, .webM: unsafe Int(stream.pointee.index) +| 1
        case .isoBaseMedia, .transportStream, .aac, .mpegAudio, .ac3, .enhancedAC3, .id3, .flac, .ogg, .wave, .webVTT,
            .ttml, .hlsPlaylist, .mediaPresentation, .html:
            unsafe Int(stream.pointee.id)
        }
    }

    private mutating func decrypt(
        _ packets: [UnsafeMutablePointer<AVPacket>],
        of format: TrackFormat
    ) throws(DecodingError) -> [UnsafeMutablePointer<AVPacket>] {
        guard let decryptor, encryptedTracks.contains(format.id),
            let coding = SampleAESDecryptor.Codec(format.parameters.codec)
        else { return unsafe packets }
        var list: [UnsafeMutablePointer<AVPacket>] = unsafe []
        for index in unsafe packets.indices {
            let packet = unsafe packets[index]
            let bytes = unsafe UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
            unsafe list.append(
                try PacketBuilder.makePacket(decryptor.decrypt(bytes, codec: coding), copyingPropertiesOf: packet)
            )
            var unused: UnsafeMutablePointer<AVPacket>? = unsafe packet
            unsafe av_packet_free(&unused)
        }
        return unsafe list
    }

    /// Sets the missing durations of video packets to the distance to the next packet in decoding order.
    private static func fillDurations(_ packets: [UnsafeMutablePointer<AVPacket>], _ kind: MediaTrack.MediaType) {
        guard kind == .video else { return }
        let none = cffmpeg_no_timestamp()
        var last: Int64 = 0
        for index in unsafe packets.indices {
            let packet = unsafe packets[index]
            guard unsafe packet.pointee.duration <= 0 else {
                last = unsafe packet.pointee.duration
                continue
            }
            if unsafe index + 1 < packets.count, unsafe packet.pointee.dts != none,
                unsafe packets[index + 1].pointee.dts != none
            {
                last = unsafe max(
                    0,
                    packets[index + 1].pointee.dts.subtractingReportingOverflow(packet.pointee.dts).partialValue
                )
            }
            unsafe packet.pointee.duration = last
        }
    }

    private func offsetTimestamps(of packets: [UnsafeMutablePointer<AVPacket>], by units: Int64) {
        let none = cffmpeg_no_timestamp()
        for index in unsafe packets.indices {
            let packet = unsafe packets[index]
            if unsafe packet.pointee.pts != none { unsafe packet.pointee.pts &+= units }
            if unsafe packet.pointee.dts != none { unsafe packet.pointee.dts &+= units }
        }
    }

    private func completeFormat(
        _ format: inout TrackFormat,
        stream: UnsafeMutablePointer<AVStream>,
        packets: [UnsafeMutablePointer<AVPacket>]
    ) {
        if encryptedTracks.contains(format.id) { format.encryptionScheme = "sample-aes" }
        if format.width == 0, let size = unsafe frameSizes[Int(stream.pointee.index)] {
            (format.width, format.height) = size
        }
        if TrackFormatCompletion.complete(&format, fromConfiguration: format.parameters.extraData) { return }
        for index in unsafe packets.indices.prefix(64) {
            let packet = unsafe packets[index]
            let bytes = unsafe UnsafeRawBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))
            if unsafe TrackFormatCompletion.complete(&format, fromSample: bytes) { break }
        }
    }

    /// Returns an ID3 tag with the five bytes that FFmpeg removes as an access unit header, which ID3 tags do not have.
    ///
    /// The removed bytes include the version. Tags in transport streams have version 2.4 (Apple's "Timed Metadata for
    /// HTTP Live Streaming").
    private static func restoringID3Header(of bytes: [UInt8]) -> [UInt8] {
        guard bytes.count > 5, !bytes.starts(with: Array("ID3".utf8)) else { return bytes }
        let whole = Array("ID3".utf8) + [4, 0] + bytes
        return ID3Tag(whole.span)?.byteCount == whole.count ? whole : bytes
    }

    private mutating func appendMetadata(_ packets: [MediaPacket?], format: TrackFormat) {
        guard format.parameters.codec == AV_CODEC_ID_TIMED_ID3 else { return }
        for packet in packets.compactMap({ $0 }) where result.metadata.count < 10_000 {
            unsafe result.metadata.append(
                TimedMetadata(
                    kind: .id3,
                    time: packet.presentationTime,
                    payload: Self.restoringID3Header(of: packet.withBytes { unsafe Array($0) })
                )
            )
        }
    }
}

/// The distance between decoding order and presentation order.
enum FrameReordering {
    /// Returns the maximum number of frames that precede a frame in decoding order but follow it in presentation order,
    /// at most 16.
    static func depth(ofPresentationTimes times: [Int64]) -> Int {
        var depth = 0
        for (index, time) in times.enumerated() {
            var count = 0
            for other in times[max(0, index - 16)..<index] where other > time { count += 1 }
            depth = max(depth, count)
        }
        return depth
    }
}

extension SampleAESDecryptor.Codec {
    init?(_ codec: AVCodecID) {
        switch codec {
        case AV_CODEC_ID_H264: self = .h264
        case AV_CODEC_ID_AAC: self = .aac
        case AV_CODEC_ID_AC3, AV_CODEC_ID_EAC3: self = .ac3
        default: return nil
        }
    }
}
