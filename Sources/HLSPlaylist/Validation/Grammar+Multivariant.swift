/// The syntax of values in multivariant playlists (RFC 8216bis §4.4.6).
extension Grammar {
    /// Returns the parts of a text between separators, including empty parts.
    ///
    /// The text is split by bytes, because a separator and a combining mark that follows it form one character.
    static func parts(_ text: Substring, _ separator: Unicode.Scalar) -> [Substring] {
        text.utf8.split(separator: UInt8(ascii: separator), omittingEmptySubsequences: false).map { Substring($0) }
    }

    static func parts(_ text: String, _ separator: Unicode.Scalar) -> [Substring] { parts(text[...], separator) }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Returns a Boolean value that indicates whether a text is not empty and consists of letters, digits and `others`.
    static func isName(_ text: some StringProtocol, with others: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { isLetterOrDigit($0) || others.utf8.contains($0) }
    }

    static func isStableID(_ text: String) -> Bool { isName(text, with: "+/=.-_") }
    static func isPathwayID(_ text: String) -> Bool { isName(text, with: ".-_") }
    static func isInstreamID(_ text: String) -> Bool { isName(text, with: ".") }

    /// The values of `INSTREAM-ID` for closed captions in the video.
    static let captionsInstreamIDs = Set((1...4).map { "CC\($0)" } + (1...63).map { "SERVICE\($0)" })

    /// Returns a Boolean value that indicates whether a text has the syntax of `CHANNELS`: a channel count, which may
    /// be followed by comma-separated lists of identifiers, each after a slash.
    ///
    /// The first item of each list may be empty.
    static func isChannels(_ text: String) -> Bool {
        let parts = parts(text, "/")
        guard let count = parts.first, isDigits(count), count.utf8.count <= 20 else { return false }
        return parts.dropFirst().allSatisfy { list in
            Self.parts(list, ",").enumerated().allSatisfy { position, word in
                position == 0 && word.isEmpty || isAttributeName(String(word))
            }
        }
    }

    /// Returns a Boolean value that indicates whether a word is a usage in the third parameter of `CHANNELS`.
    static func isChannelUsage(_ word: Substring) -> Bool {
        ["BINAURAL", "IMMERSIVE", "DOWNMIX", "DOF-3", "DOF-6"].contains(word)
            || word.hasPrefix("BED-") && isDigits(word.dropFirst(4))
    }

    /// Returns a Boolean value that indicates whether a text consists of RFC 6381 identifiers, separated by single
    /// commas.
    package static func isCodecs(_ text: String) -> Bool {
        parts(text, ",").allSatisfy { isName($0, with: "!#$%&'*+.^_`|~{}-") }
    }

    /// Returns a Boolean value that indicates whether a text has the syntax of `SUPPLEMENTAL-CODECS`: comma-separated
    /// codecs, each of which may be followed by compatibility brands after slashes.
    ///
    /// A brand has at most four characters.
    package static func isSupplementalCodecs(_ text: String) -> Bool {
        parts(text, ",").allSatisfy { item in
            let parts = Self.parts(item, "/")
            return isName(parts[0], with: "!#$%&+.^_-")
                && parts.dropFirst().allSatisfy { $0.utf8.count <= 4 && isName($0, with: " !#$%&+.^_-") }
        }
    }

    /// Returns a Boolean value that indicates whether a text has the syntax of `ALLOWED-CPC`: comma-separated key
    /// formats, each followed by a colon and labels.
    static func isAllowedContentProtection(_ text: String) -> Bool {
        parts(text, ",").allSatisfy { item in
            let parts = Self.parts(item, ":")
            guard let labels = parts.last, parts.count > 2 || parts.count == 2 && !parts[0].isEmpty else {
                return false
            }
            return Self.parts(labels, "/").allSatisfy { isAttributeName(String($0)) }
        }
    }
}
