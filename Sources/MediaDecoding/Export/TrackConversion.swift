import CFFmpeg
import MediaTiming
import SegmentFormat

/// The conversion of the packets of a track from the form of segments to that of files, without decoding them.
///
/// AAC in transport streams has ADTS headers, which files do not have. If the configuration of the video may change,
/// as it does between the program and advertisements, each key frame gets the parameter sets that it needs.
@safe final class TrackConversion {
    /// The parameters of the track in the file.
    let parameters: CodecParameters
    /// The format of the first packets.
    let format: TrackFormat
    /// The unit of time of the track.
    let timeBase: AVRational
    /// The constant frame rate of the video, in frames per second; `nil` if it is unknown or may change, and for audio.
    let frameRate: AVRational?

    private let repeatsParameterSets: Bool
    private var headerFilter: BitstreamFilter?
    private var parameterSetFilter: (extraData: [UInt8], filter: BitstreamFilter)?

    /// The maximum number of packets that are searched for the codec configuration.
    private static let maximumSearchCount = 256

    /// The filter that finds the codec configuration within packets; codecs that it does not accept need none.
    private static let configurationFilter = "extract_extradata"

    /// Creates a conversion.
    ///
    /// - Parameters:
    ///   - samples: The samples of the first segment.
    ///   - mayChange: A Boolean value that indicates whether the configuration of the video may change.
    /// - Throws: `DecodingError` if the format cannot be converted.
    init(_ samples: DecodableSegment.Samples, mayChange: Bool) throws(DecodingError) {
        format = samples.format
        repeatsParameterSets = mayChange && Self.hasParameterSets(format.parameters.codec)
        let isAudio = format.kind == .audio
        timeBase =
            isAudio && format.sampleRate > 0
            ? AVRational(num: 1, den: Int32(clamping: format.sampleRate)) : format.timeBase
        frameRate =
            isAudio || mayChange
            ? nil
            : ConstantFrameRate.rate(
                of: samples.packets.map { $0.presentationTime.units(in: samples.format.timeBase) },
                in: samples.format.timeBase
            )
        parameters = unsafe try CodecParameters(copying: format.parameters.pointer)
        unsafe parameters.pointer.pointee.codec_tag = 0
        if isAudio {
            unsafe parameters.pointer.pointee.sample_rate = Int32(clamping: format.sampleRate)
            if unsafe parameters.pointer.pointee.ch_layout.nb_channels <= 0, format.channelCount > 0 {
                unsafe av_channel_layout_default(
                    &parameters.pointer.pointee.ch_layout,
                    Int32(clamping: min(format.channelCount, 64))
                )
            }
        } else {
            unsafe parameters.pointer.pointee.width = Int32(clamping: format.width)
            unsafe parameters.pointer.pointee.height = Int32(clamping: format.height)
        }
        try findConfiguration(samples)
    }

    private static func hasParameterSets(_ codec: AVCodecID) -> Bool {
        codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC
    }

    /// Sets the codec configuration, if the container of the segments has it within the samples.
    private func findConfiguration(_ samples: DecodableSegment.Samples) throws(DecodingError) {
        if let filter = try lengthPrefixFilter(for: format) {
            if let output = unsafe filter.parameters {
                try unsafe setExtraData(CodecParameters(copying: output).extraData)
            }
            return
        }
        guard format.parameters.extraData.isEmpty else { return }
        let extractor: BitstreamFilter
        if format.parameters.codec == AV_CODEC_ID_AAC {
            extractor = try BitstreamFilter("aac_adtstoasc", parameters: format.parameters, timeBase: format.timeBase)
        } else if format.kind == .video,
            BitstreamFilter.accepts(format.parameters.codec, filter: Self.configurationFilter)
        {
            extractor = try BitstreamFilter(
                Self.configurationFilter,
                parameters: format.parameters,
                timeBase: format.timeBase
            )
        } else {
            return
        }
        for packet in samples.packets.prefix(Self.maximumSearchCount) {
            var filtered = try unsafe extractor.filter(packet.pointer)
            defer { unsafe av_packet_free(&filtered) }
            if let packet = unsafe filtered, let configuration = unsafe BitstreamFilter.extraData(of: packet) {
                return try setExtraData(configuration)
            }
        }
    }

    private func setExtraData(_ bytes: [UInt8]) throws(DecodingError) {
        let status = unsafe bytes.withUnsafeBufferPointer {
            unsafe cffmpeg_set_extra_data(parameters.pointer, $0.baseAddress, Int32(clamping: $0.count))
        }
        guard status >= 0 else { throw .outOfMemory }
    }

    /// Returns the filter that replaces length prefixes by start codes and adds parameter sets; `nil` if the packets
    /// need none.
    private func lengthPrefixFilter(for format: TrackFormat) throws(DecodingError) -> BitstreamFilter? {
        let extraData = format.parameters.extraData
        // A configuration record begins with its version; a byte stream begins with a start code.
        guard repeatsParameterSets, extraData.first == 1 else { return nil }
        if let parameterSetFilter, parameterSetFilter.extraData == extraData { return parameterSetFilter.filter }
        let name = format.parameters.codec == AV_CODEC_ID_H264 ? "h264_mp4toannexb" : "hevc_mp4toannexb"
        let filter = try BitstreamFilter(name, parameters: format.parameters, timeBase: format.timeBase)
        parameterSetFilter = (extraData, filter)
        return filter
    }

    /// Verifies that packets of a format can follow the first ones.
    ///
    /// - Throws: ``DecodingError`` if a file cannot have the change within a track.
    func validate(_ other: TrackFormat, at time: MediaTime) throws(DecodingError) {
        let (known, new) = (format.parameters, other.parameters)
        let isSame =
            known.codec == new.codec
            && (format.kind == .audio
                ? format.sampleRate == other.sampleRate && format.channelCount == other.channelCount
                    && (known === new || known.extraData == new.extraData)
                : format.orientation == other.orientation
                    && (repeatsParameterSets || known === new || known.extraData == new.extraData))
        guard !isSame else { return }
        let what = format.kind == .audio ? "audio" : "video"
        throw DecodingError(
            status: .unsupported,
            operation: """
                the format of the \(what) changes at \(ClockText.seconds(time)) \
                (\(Self.description(format)), then \(Self.description(other))), and a file has one format for each track
                """
        )
    }

    private static func description(_ format: TrackFormat) -> String {
        guard format.kind == .audio else {
            let parts = ["\(format.codec) \(format.width)x\(format.height)", format.orientation.text]
            return parts.compactMap(\.self).joined(separator: " ")
        }
        return "\(format.codec) \(format.sampleRate) Hz \(format.channelCount) ch"
    }

    /// Converts a packet.
    ///
    /// - Parameters:
    ///   - packet: The packet, which is not modified.
    ///   - format: The format of the packet, which ``validate(_:at:)`` accepts.
    /// - Returns: The packet, which the caller owns; `nil` if nothing of it remains.
    /// - Throws: `DecodingError` if the packet is damaged.
    func convert(_ packet: MediaPacket, _ format: TrackFormat) throws(DecodingError) -> UnsafeMutablePointer<AVPacket>?
    {
        if let filter = try lengthPrefixFilter(for: format) { return try unsafe filter.filter(packet.pointer) }
        if format.parameters.codec == AV_CODEC_ID_AAC, Self.hasADTSHeader(packet) {
            return try unsafe removeHeader(of: packet, format)
        }
        guard let copy = unsafe av_packet_clone(packet.pointer) else { throw .outOfMemory }
        return unsafe copy
    }

    private func removeHeader(
        of packet: MediaPacket,
        _ format: TrackFormat
    ) throws(DecodingError) -> UnsafeMutablePointer<AVPacket>? {
        if headerFilter == nil {
            headerFilter = try BitstreamFilter(
                "aac_adtstoasc",
                parameters: format.parameters,
                timeBase: format.timeBase
            )
        }
        let converted = try unsafe headerFilter?.filter(packet.pointer)
        // The first packet has the codec configuration, with which the muxer would replace that of the header.
        if let converted = unsafe converted { unsafe av_packet_free_side_data(converted) }
        return unsafe converted
    }

    private static func hasADTSHeader(_ packet: MediaPacket) -> Bool {
        unsafe packet.withBytes { bytes in
            unsafe bytes.count > 7 && bytes[0] == 0xFF && bytes[1] & 0xF6 == 0xF0
        }
    }
}
