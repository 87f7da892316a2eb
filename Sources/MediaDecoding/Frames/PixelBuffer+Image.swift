import CFFmpeg
import MediaTiming
import SegmentFormat

extension PixelBuffer {
    /// The maximum number of pixels of an image: 4096×4096, more than the artwork of media files has.
    private static let maximumImagePixelCount: Int64 = 4_096 * 4_096
    /// The maximum number of scans of a JPEG file: progressive images have about ten, and each one takes as long as the
    /// whole image.
    private static let maximumScanCount = 100
    /// The types of the chunks of PNG files with compressed data that do not belong to the image.
    private static let compressedMetadataTypes = ["zTXt", "iTXt", "iCCP"]

    /// Decodes an image file, such as the artwork of a media file.
    ///
    /// - Parameter bytes: The bytes of a PNG, JPEG, GIF or WebP file of at most 8 MiB. Of an animated GIF, the first image is
    ///   decoded, and of an animated PNG, the default image.
    /// - Returns: The image.
    /// - Throws: ``DecodingError`` if the bytes are not those of such a file, or are damaged, if the image has more than
    ///   4096×4096 pixels or more than 100 scans, or if it is an animated WebP, which FFmpeg 5.1 does not decode.
    public static func decodeImage(_ bytes: [UInt8]) throws(DecodingError) -> PixelBuffer {
        guard let codec = imageCodec(of: bytes) else {
            throw DecodingError(status: .unsupported, operation: "the image is not a PNG, JPEG, GIF or WebP file")
        }
        if codec == AV_CODEC_ID_MJPEG, scanCount(of: bytes) > maximumScanCount {
            throw DecodingError(
                status: .notReadable,
                operation: "the image cannot be decoded: it has more than \(maximumScanCount) scans"
            )
        }
        let parameters = try CodecParameters()
        unsafe parameters.pointer.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe parameters.pointer.pointee.codec_id = codec
        // Decoding an image requires no times.
        let timeBase = AVRational(num: 1, den: 25)
        var options = VideoDecoder.Options()
        options.maximumPixelCount = maximumImagePixelCount
        let format = TrackFormat(id: 0, kind: .video, timeBase: timeBase, parameters: parameters)
        let decoder = try VideoDecoder(format, options: options)
        let content = codec == AV_CODEC_ID_PNG ? removingCompressedMetadata(bytes) : bytes
        let made: UnsafeMutablePointer<AVPacket>
        unsafe made = try unsafe PacketBuilder.makePacket(content)
        unsafe made.pointee.flags |= AV_PKT_FLAG_KEY
        let packet = unsafe MediaPacket(owning: made, trackID: 0, timeBase: timeBase)
        let frames = decoder.decode(packet) + decoder.drain()
        guard let image = frames.first?.pixelBuffer else {
            throw DecodingError(status: .notReadable, operation: "the image cannot be decoded")
        }
        return image
    }

    /// Returns an upper bound on the number of scans of a JPEG file.
    ///
    /// The bytes that begin a scan can also occur in other data, where they are counted too.
    private static func scanCount(of bytes: [UInt8]) -> Int {
        zip(bytes, bytes.dropFirst()).count { pair in pair.0 == 0xFF && pair.1 == 0xDA }
    }

    /// Returns a PNG file without its compressed texts and color profile, which do not change the decoded pixels.
    ///
    /// FFmpeg expands them without a limit, so that 2 MB can take 4 GB of memory.
    ///
    /// - Parameter bytes: The bytes of the file.
    /// - Returns: The bytes without these chunks, with all others unchanged.
    static func removingCompressedMetadata(_ bytes: [UInt8]) -> [UInt8] {
        // The signature has 8 bytes.
        var result = Array(bytes.prefix(8))
        var rest = bytes.dropFirst(8)
        // A chunk has the length of its data, a type, the data and a checksum (RFC 2083 §3.2).
        while rest.count >= 12 {
            let length: Int = rest.prefix(4).reduce(0) { $0 << 8 | Int(clamping: $1) }
            let chunk = rest.prefix(length +| 12)
            let type = chunk.dropFirst(4).prefix(4)
            if !compressedMetadataTypes.contains(where: { type.elementsEqual($0.utf8) }) { result += chunk }
            rest = rest.dropFirst(chunk.count)
        }
        return result + rest
    }

    private static func imageCodec(of bytes: [UInt8]) -> AVCodecID? {
        switch MediaFileMetadata.Artwork(bytes)?.contentType {
        case "image/png": AV_CODEC_ID_PNG
        case "image/jpeg": AV_CODEC_ID_MJPEG
        case "image/gif": AV_CODEC_ID_GIF
        case "image/webp": AV_CODEC_ID_WEBP
        default: nil
        }
    }
}
