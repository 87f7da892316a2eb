/// The decoder configurations that containers other than ISO base media store, such as Matroska.
package enum DecoderConfiguration {
    /// Returns the codec string of a decoder configuration, according to RFC 6381.
    ///
    /// - Parameters:
    ///   - format: The type of the sample entry that the codec has in ISO base media: `avc1`, `hvc1`, `av01` or `mp4a`.
    ///   - bytes: The configuration, such as the content of the box `avcC`, or an AudioSpecificConfig.
    /// - Returns: The codec string with its profile; `nil` if the configuration does not have it.
    package static func codec(_ format: FourCharacterCode, _ bytes: Span<UInt8>) -> String? {
        CodecDescription(format, record: bytes)?.codec
    }
}
