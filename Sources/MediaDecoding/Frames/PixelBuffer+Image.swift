import CFFmpeg
import SegmentFormat

extension PixelBuffer {
    /// Decodes an image file, such as the artwork of a media file.
    ///
    /// - Parameter bytes: The bytes of a PNG, JPEG, GIF or WebP file of at most 8 MiB; of an animation, the first image is
    ///   decoded.
    /// - Returns: The image.
    /// - Throws: ``DecodingError`` if the bytes are not those of such a file, or are damaged, or if the image has more
    ///   than 35 million pixels.
    public static func decodeImage(_ bytes: [UInt8]) throws(DecodingError) -> PixelBuffer {
        guard let codec = imageCodec(of: bytes) else {
            throw DecodingError(status: .unsupported, operation: "the image is not a PNG, JPEG, GIF or WebP file")
        }
        let parameters = try CodecParameters()
        unsafe parameters.pointer.pointee.codec_type = AVMEDIA_TYPE_VIDEO
        unsafe parameters.pointer.pointee.codec_id = codec
        // Decoding an image requires no times.
        let timeBase = AVRational(num: 1, den: 25)
        let decoder = try VideoDecoder(TrackFormat(id: 0, kind: .video, timeBase: timeBase, parameters: parameters))
        let made: UnsafeMutablePointer<AVPacket>
        unsafe made = try unsafe PacketBuilder.makePacket(bytes)
        unsafe made.pointee.flags |= AV_PKT_FLAG_KEY
        let packet = unsafe MediaPacket(owning: made, trackID: 0, timeBase: timeBase)
        let frames = decoder.decode(packet) + decoder.drain()
        guard let image = frames.first?.pixelBuffer else {
            throw DecodingError(status: .notReadable, operation: "the image cannot be decoded")
        }
        return image
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
