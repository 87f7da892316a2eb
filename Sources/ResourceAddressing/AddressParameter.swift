/// The meaning of a query parameter, by its name.
///
/// Messages shorten secret values, and a comparison of addresses leaves out signatures; both follow these lists.
struct AddressParameter {
    /// The extent to which a parameter is a signature, which permits a request and does not select what is returned.
    enum SignatureRule {
        /// Every value is a signature, a token, or the time of their expiry.
        case always
        /// A value that is a time or a digest is one; any other value may select content, as in `st=120`.
        case timeOrDigest
        /// A value that is a time is one; any other value may select content, as in `e=5` for an episode.
        case time
        /// No value is one.
        case never
    }

    /// A Boolean value that indicates whether the value is secret.
    let isSecret: Bool
    private let rule: SignatureRule

    /// Creates the meaning of the parameter with a name, as it is written in the address.
    init(named name: Substring) {
        let plain = (PercentEncoding.decode(String(name.prefix(64))) ?? String(name)).lowercased()
            .filter { $0 != "-" && $0 != "_" && $0 != "[" && $0 != "]" }
        let isSigned = Self.signaturePrefixes.contains { plain.hasPrefix($0) }
        if isSigned || Self.signatures.contains(plain) || Self.signatureWords.contains(where: { plain.contains($0) }) {
            (isSecret, rule) = (true, .always)
        } else if Self.timesOrDigests.contains(plain) {
            (isSecret, rule) = (true, .timeOrDigest)
        } else if Self.times.contains(plain) {
            (isSecret, rule) = (false, .time)
        } else {
            isSecret = Self.secrets.contains(plain) || Self.secretWords.contains { plain.contains($0) }
            rule = .never
        }
    }

    /// Returns a Boolean value that indicates whether an item of a query, such as `token=abc`, is a signature.
    static func isSignature(_ item: Substring) -> Bool {
        guard let equals = item.utf8.firstIndex(of: UInt8(ascii: "=")) else { return false }
        let value = item[item.utf8.index(after: equals)...]
        switch AddressParameter(named: item[..<equals]).rule {
        case .always: return true
        case .timeOrDigest: return isTime(value) || value.utf8.count >= minimumDigestLength
        case .time: return isTime(value)
        case .never: return false
        }
    }

    /// The minimum number of bytes of a digest: that of 96 bits in Base64.
    private static let minimumDigestLength = 16

    /// Returns a Boolean value that indicates whether a value is a time since 1970 in seconds or milliseconds, or a date of
    /// ISO 8601.
    private static func isTime(_ value: Substring) -> Bool {
        let count = value.utf8.count
        guard count <= maximumTimeLength else { return false }
        let digitCount = value.utf8.count { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        if digitCount == count { return (9...13).contains(count) }
        // A colon can be percent-encoded.
        return value.utf8.first == UInt8(ascii: "2") && digitCount >= 8
            && value.utf8.allSatisfy { "0123456789-:.+TZtz%Aa".utf8.contains($0) }
    }

    /// The maximum number of bytes of a time, with its colons percent-encoded.
    private static let maximumTimeLength = 40

    // All names are in lowercase, without hyphens, underscores and brackets.

    /// The prefixes of the names of signatures.
    private static let signaturePrefixes = ["xamz", "xgoog"]
    /// Parts of names of signatures.
    private static let signatureWords = ["token", "signature"]
    /// The names of signatures.
    private static let signatures: Set<String> = [
        "accesskeyid", "authkey", "authorization", "awsaccesskeyid", "bearer", "expires", "googleaccessid", "hdnea",
        "hdnts", "hdntl", "hmac", "jwt", "keypairid", "policy", "sig", "sign", "tok", "wmsauthsign",
    ]
    /// The secret names that can also be those of other parameters.
    private static let timesOrDigests: Set<String> = ["exp", "md5", "se", "skt", "st"]
    /// The names of times of expiry, which are not secret.
    private static let times: Set<String> = ["e", "et", "expiration", "expire", "expiry", "ske"]
    /// The names of other secrets, which can select content.
    private static let secrets: Set<String> = [
        "accesskey", "apikey", "appkey", "auth", "code", "cookie", "credential", "credentials", "hash", "key", "login",
        "nonce", "passwd", "password", "passphrase", "pass", "pin", "pwd", "secret", "session", "sessionid", "sid",
        "sks", "sp", "sr", "ticket", "user", "username",
    ]
    /// Parts of names of other secrets.
    private static let secretWords = ["secret", "passw", "apikey", "auth", "session", "credential"]
}

extension ResourceAddress {
    /// The address without the parameters of its query that only permit a request: signatures, tokens, and the times of
    /// their expiry.
    ///
    /// Two addresses for which this is equal differ at most in their signatures, such as `Policy`, `X-Amz-Date`, `hdnts` and
    /// `token`. A short name such as `e` or `st` counts only if its value is a time or, for some names, a digest. All other parts
    /// are unchanged.
    package var withoutSignature: ResourceAddress {
        let bytes = text.utf8
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
        guard let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return self }
        let items = bytes[bytes.index(after: mark)..<end]
            .split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { Substring($0) }
        let kept = items.filter { !AddressParameter.isSignature($0) }
        guard kept.count < items.count else { return self }
        let query = kept.joined(separator: "&")
        return ResourceAddress("\(text[..<mark])\(kept.isEmpty ? "" : "?")\(query)\(text[end...])")
    }
}
