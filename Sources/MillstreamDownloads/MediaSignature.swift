/// The first bytes of the formats of media segments (RFC 8216bis §3.1), by which decrypted media is told from random bytes.
enum MediaSignature {
    /// The types of the boxes with which segments and initialization sections of MP4 begin.
    private static let boxTypes: Set<String> = [
        "ftyp", "styp", "moov", "moof", "sidx", "emsg", "prft", "mdat", "free", "skip", "uuid", "ssix", "wide",
    ]
    /// The texts with which packed audio, subtitles and files of other containers begin.
    private static let texts = ["ID3", "WEBVTT", "\u{FEFF}WEBVTT", "fLaC", "OggS", "RIFF", "<", "\u{FEFF}<"].map {
        Array($0.utf8)
    }
    /// The beginnings of AC-3 frames and of Matroska files.
    private static let codes: [[UInt8]] = [[0x0B, 0x77], [0x1A, 0x45, 0xDF, 0xA3]]
    /// The first byte of each packet of a transport stream.
    private static let synchronizationByte: UInt8 = 0x47
    /// The number of bytes before each packet of a transport stream with time stamps.
    private static let timeStampSize = 4

    /// Returns a Boolean value that indicates whether bytes are the beginning of media of a known format.
    ///
    /// - Parameter bytes: The first 16 bytes of the media.
    /// - Returns: The value; false if there are fewer than 8 bytes.
    static func isPresent(in bytes: [UInt8]) -> Bool {
        guard bytes.count >= 8 else { return false }
        if bytes[0] == synchronizationByte || bytes[timeStampSize] == synchronizationByte { return true }
        if boxTypes.contains(String(decoding: bytes[4..<8], as: UTF8.self)) { return true }
        // Frames of ADTS and of MPEG audio begin with eleven bits that are set.
        if bytes[0] == 0xFF, bytes[1] & 0xE0 == 0xE0 { return true }
        return (texts + codes).contains { bytes.starts(with: $0) }
    }
}
