import CFFmpeg
import MediaTiming
import SegmentFormat

/// A writer of a media file, or of movie fragments in memory, whose tracks contain encoded packets.
@safe final class MediaFileWriter {
    /// The unit of time of chapters and subtitles, a millisecond.
    static let textTimeBase = AVRational(num: 1, den: 1_000)

    private let type: MediaFileType
    /// The path of the file; `nil` for movie fragments in memory.
    private let path: String?
    /// The file or the memory in messages.
    private let destination: String
    private var context: UnsafeMutablePointer<AVFormatContext>
    /// The indices of the subtitle tracks that are not shown by default.
    private var disabledTracks: Set<Int> = []
    /// A Boolean value that indicates whether a video track of a Matroska file has a projection.
    private var hasProjection = false
    /// The description of a track with a codec that some versions of FFmpeg do not write to MP4 files; `nil` if there is none.
    private var experimentalTrack: String?
    /// The cover of an MP4 file, which is written after the header, and the index of its track; `nil` if there is none.
    private var cover: (image: CoverImage, track: Int32)?

    /// Creates a file, or replaces it.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the file.
    ///   - destination: The path of the file in messages, if it is renamed when it is complete; `nil` for `path`.
    ///   - type: The type of the file.
    /// - Throws: `DecodingError` if the file cannot be created.
    convenience init(path: String, destination: String? = nil, type: MediaFileType) throws(DecodingError) {
        try self.init(type, path: path, destination: destination ?? path)
    }

    /// Creates movie fragments in memory, which keep the timestamps of the packets; ``finishedFragments()`` returns them.
    ///
    /// - Throws: `DecodingError` if there is no memory.
    convenience init() throws(DecodingError) {
        try self.init(.mp4, path: nil, destination: "the movie fragment")
    }

    private init(_ type: MediaFileType, path: String?, destination: String) throws(DecodingError) {
        _ = FFmpegLibrary.isLoggingDisabled
        self.type = type
        self.path = path
        self.destination = destination
        var created: UnsafeMutablePointer<AVFormatContext>?
        // A protocol, so that a colon in the path is not taken for one.
        let url = path.map { "file:" + $0 }
        let status = unsafe avformat_alloc_output_context2(&created, nil, type.muxerName, url)
        guard status >= 0, let created = unsafe created else {
            throw DecodingError(status: .unsupported, operation: "FFmpeg cannot write \(type.name) files")
        }
        unsafe context = unsafe created
        let opening =
            if let url {
                unsafe avio_open(&created.pointee.pb, url, AVIO_FLAG_WRITE)
            } else {
                unsafe avio_open_dyn_buf(&created.pointee.pb)
            }
        guard opening >= 0 else { throw DecodingError(status: opening, operation: "\(destination) cannot be written") }
    }

    deinit {
        if path == nil { _ = closedBuffer() }
        unsafe avio_closep(&context.pointee.pb)
        unsafe avformat_free_context(context)
    }

    /// Closes the memory that is written to, and returns the bytes; `nil` if it is closed.
    private func closedBuffer() -> [UInt8]? {
        guard let output = unsafe context.pointee.pb else { return nil }
        unsafe context.pointee.pb = nil
        var buffer: UnsafeMutablePointer<UInt8>?
        let size = unsafe avio_close_dyn_buf(output, &buffer)
        defer { unsafe av_free(buffer) }
        guard size > 0, let buffer = unsafe buffer else { return [] }
        return unsafe Array(UnsafeBufferPointer(start: buffer, count: Int(size)))
    }

    /// Sets the title of the file.
    func setTitle(_ title: String) {
        unsafe av_dict_set(&context.pointee.metadata, "title", title, 0)
    }

    /// Sets the artist and the album of the file to those of other metadata.
    func setArtistAndAlbum(of metadata: MediaFileMetadata) {
        if let artist = metadata.artist { unsafe av_dict_set(&context.pointee.metadata, "artist", artist, 0) }
        if let album = metadata.albumTitle { unsafe av_dict_set(&context.pointee.metadata, "album", album, 0) }
    }

    /// Adds a chapter, with times in milliseconds.
    func addChapter(_ title: String, start: Int64, end: Int64) throws(DecodingError) {
        guard unsafe cffmpeg_add_chapter(context, Self.textTimeBase, start, end, title) >= 0 else { throw .outOfMemory }
    }

    /// Adds a video or audio track.
    ///
    /// - Returns: The index of the track.
    func addTrack(
        _ conversion: TrackConversion,
        _ properties: ExportSource.Properties
    ) throws(DecodingError) -> Int32 {
        let codec = conversion.parameters.codec
        let format = unsafe context.pointee.oformat
        let names = [conversion.format.kind.rawValue, properties.languageTag ?? properties.language]
        let name = names.compactMap(\.self).joined(separator: " ") + " (\(conversion.format.codec))"
        guard unsafe avformat_query_codec(format, codec, FF_COMPLIANCE_NORMAL) != 0 else {
            throw unsupportedTrack(name)
        }
        if codec == AV_CODEC_ID_FLAC || codec == AV_CODEC_ID_TRUEHD { experimentalTrack = name }
        let stream = try unsafe addStream(properties, timeBase: conversion.timeBase)
        let status = unsafe avcodec_parameters_copy(stream.pointee.codecpar, conversion.parameters.pointer)
        guard status >= 0 else { throw .outOfMemory }
        if type == .mp4, codec == AV_CODEC_ID_HEVC {
            // Apple's players require it.
            unsafe stream.pointee.codecpar.pointee.codec_tag = Self.tag("hvc1")
        }
        if conversion.format.kind == .video {
            unsafe stream.pointee.disposition |= AV_DISPOSITION_DEFAULT
            if type == .matroska, let rate = conversion.frameRate {
                // Otherwise players derive the rate from timestamps in milliseconds, so that 30 frames per second become 30.3.
                unsafe stream.pointee.avg_frame_rate = rate
            }
            try unsafe setOrientation(conversion.format.orientation, of: stream)
        }
        return unsafe stream.pointee.index
    }

    /// Sets the orientation in which players show a video track.
    private func setOrientation(
        _ orientation: VideoOrientation,
        of stream: UnsafeMutablePointer<AVStream>
    ) throws(DecodingError) {
        unsafe cffmpeg_remove_display_matrix(stream)
        guard orientation != .upright else { return }
        let status: Int32
        switch type {
        case .mp4:
            let (a, b, c, d) = orientation.matrix
            status = unsafe cffmpeg_set_display_matrix(stream, a, b, c, d)
        case .matroska:
            let (yaw, roll) = orientation.projection
            status = unsafe cffmpeg_set_projection(stream, yaw, roll)
            hasProjection = true
        }
        guard status >= 0 else { throw .outOfMemory }
    }

    private func unsupportedTrack(_ name: String) -> DecodingError {
        DecodingError(status: .unsupportedInFile, operation: "the \(name) cannot be written to \(type.file)")
    }

    /// Adds a subtitle track.
    ///
    /// - Returns: The index of the track.
    func addSubtitles(_ properties: ExportSource.Properties) throws(DecodingError) -> Int32 {
        let stream = try unsafe addStream(properties, timeBase: Self.textTimeBase)
        guard let parameters = unsafe stream.pointee.codecpar else { throw .outOfMemory }
        unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_SUBTITLE
        unsafe parameters.pointee.codec_id = type == .mp4 ? AV_CODEC_ID_MOV_TEXT : AV_CODEC_ID_SUBRIP
        if type == .mp4 {
            let description = SubtitlePacket.sampleDescription
            let status = unsafe description.withUnsafeBufferPointer {
                unsafe cffmpeg_set_extra_data(parameters, $0.baseAddress, Int32(clamping: $0.count))
            }
            guard status >= 0 else { throw .outOfMemory }
        }
        if !properties.isDefault { unsafe disabledTracks.insert(Int(stream.pointee.index)) }
        return unsafe stream.pointee.index
    }

    /// Adds the cover of the file, after all tracks: an attached picture of an MP4 file, an attachment of a Matroska file.
    func addCover(_ image: CoverImage) throws(DecodingError) {
        let stream = try unsafe addStream(.init(), timeBase: Self.textTimeBase)
        guard let parameters = unsafe stream.pointee.codecpar else { throw .outOfMemory }
        switch type {
        case .mp4:
            unsafe stream.pointee.disposition = AV_DISPOSITION_ATTACHED_PIC
            unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
            unsafe parameters.pointee.codec_id = image.format == .png ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG
            // FFmpeg requires dimensions of each track, and does not write those of a cover.
            unsafe parameters.pointee.width = 1
            unsafe parameters.pointee.height = 1
            cover = (image, unsafe stream.pointee.index)
        case .matroska:
            unsafe parameters.pointee.codec_type = AVMEDIA_TYPE_ATTACHMENT
            let bytes = image.bytes
            let status = unsafe bytes.withUnsafeBufferPointer {
                unsafe cffmpeg_set_extra_data(parameters, $0.baseAddress, Int32(clamping: $0.count))
            }
            guard status >= 0 else { throw .outOfMemory }
            unsafe av_dict_set(&stream.pointee.metadata, "filename", image.fileName, 0)
            unsafe av_dict_set(&stream.pointee.metadata, "mimetype", image.contentType, 0)
        }
    }

    private func addStream(
        _ properties: ExportSource.Properties,
        timeBase: AVRational
    ) throws(DecodingError) -> UnsafeMutablePointer<AVStream> {
        guard let stream = unsafe avformat_new_stream(context, nil) else { throw .outOfMemory }
        unsafe stream.pointee.time_base = timeBase
        if let language = properties.language {
            unsafe av_dict_set(&stream.pointee.metadata, "language", language, 0)
        }
        if let title = properties.title {
            // The name that players show for a track of an MP4 file is that of its handler.
            unsafe av_dict_set(&stream.pointee.metadata, type == .mp4 ? "handler_name" : "title", title, 0)
        }
        var disposition: Int32 = 0
        if properties.isDefault { disposition |= AV_DISPOSITION_DEFAULT }
        if properties.isForced { disposition |= AV_DISPOSITION_FORCED }
        if properties.describesSound { disposition |= AV_DISPOSITION_HEARING_IMPAIRED }
        if properties.describesVideo { disposition |= AV_DISPOSITION_VISUAL_IMPAIRED }
        unsafe stream.pointee.disposition = disposition
        return unsafe stream
    }

    private static func tag(_ text: String) -> UInt32 {
        text.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Writes the header; no tracks can be added afterwards.
    func begin() throws(DecodingError) {
        var options: OpaquePointer?
        switch type {
        case .mp4 where path == nil:
            // One fragment, whose decode times are those of the packets, without an edit list that would change them. The
            // descriptions of some codecs are known only after the first packet.
            let flags = "+frag_custom+empty_moov+delay_moov+default_base_moof+frag_discont+skip_trailer"
            unsafe av_dict_set(&options, "movflags", flags, 0)
            unsafe av_dict_set(&options, "use_editlist", "0", 0)
            // Without an edit list, the muxer would otherwise let the timestamps begin at zero.
            unsafe context.pointee.avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED
        case .mp4: unsafe av_dict_set(&options, "movflags", "+faststart", 0)
        case .matroska:
            unsafe av_dict_set(&options, "default_mode", "passthrough", 0)
            // The header is changed after the file is complete, which a checksum would not permit.
            if hasProjection { unsafe av_dict_set(&options, "write_crc32", "0", 0) }
        }
        let status = unsafe avformat_write_header(context, &options)
        unsafe av_dict_free(&options)
        if status == cffmpeg_error_experimental(), let experimentalTrack { throw unsupportedTrack(experimentalTrack) }
        guard status >= 0 else {
            throw DecodingError(status: status, operation: "the header of \(destination) cannot be written")
        }
        guard let cover else { return }
        let packet = try unsafe PacketBuilder.makePacket(cover.image.bytes)
        unsafe packet.pointee.pts = 0
        unsafe packet.pointee.dts = 0
        unsafe packet.pointee.flags |= AV_PKT_FLAG_KEY
        try unsafe write(packet, track: cover.track, timeBase: Self.textTimeBase)
    }

    /// Writes a packet and takes ownership of it.
    ///
    /// - Parameters:
    ///   - packet: The packet, whose timestamps are in units of `timeBase`.
    ///   - track: The index of the track.
    ///   - timeBase: The unit of the timestamps.
    /// - Throws: `DecodingError` if the packet cannot be written.
    func write(
        _ packet: UnsafeMutablePointer<AVPacket>,
        track: Int32,
        timeBase: AVRational
    ) throws(DecodingError) {
        var owned: UnsafeMutablePointer<AVPacket>? = unsafe packet
        defer { unsafe av_packet_free(&owned) }
        guard unsafe track < Int32(clamping: context.pointee.nb_streams),
            let stream = unsafe context.pointee.streams?[Int(track)]
        else { return }
        unsafe packet.pointee.stream_index = track
        unsafe packet.pointee.pos = -1
        unsafe av_packet_rescale_ts(packet, timeBase, stream.pointee.time_base)
        try check(unsafe av_interleaved_write_frame(context, packet))
    }

    /// Completes the file.
    func finish() throws(DecodingError) {
        try check(unsafe av_write_trailer(context))
        try check(unsafe avio_closep(&context.pointee.pb))
        guard let path else { return }
        do {
            // FFmpeg enables the first subtitle track if no track is the default.
            if type == .mp4, !disabledTracks.isEmpty {
                try MovieTrackFlags.disable(tracks: disabledTracks, inFile: path)
            }
            if hasProjection { try MatroskaProjection.flatten(inFile: path) }
        } catch {
            throw DecodingError(status: .failed, operation: "\(destination) cannot be written: \(error)")
        }
    }

    /// Completes the movie fragments in memory.
    ///
    /// - Returns: An initialization section with a fragment.
    /// - Throws: `DecodingError` if they cannot be written.
    func finishedFragments() throws(DecodingError) -> [UInt8] {
        try check(unsafe av_write_trailer(context))
        return closedBuffer() ?? []
    }

    private func check(_ status: Int32) throws(DecodingError) {
        guard status >= 0 else { throw DecodingError(status: status, operation: "\(destination) cannot be written") }
    }
}
