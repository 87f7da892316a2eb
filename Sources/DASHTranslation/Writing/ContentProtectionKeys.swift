import DASHManifest
import MediaTiming
import XMLReading

/// A namespace for the key tags of protected media (RFC 8216bis §4.4.4.4).
///
/// Players that support the key system can request a license; the tags tell other players that the media is encrypted.
enum ContentProtectionKeys {
    private static let commonScheme = "urn:mpeg:dash:mp4protection:2011"
    private static let widevine = "urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed"
    private static let playReady = "urn:uuid:9a04f079-9840-4286-ab92-e65be0885f95"
    private static let fairPlay = "urn:uuid:94ce86fb-07ff-4f43-adb8-93d2fa968ca2"
    /// The maximum length of initialization data; longer data is omitted, because it cannot be that of a license
    /// request.
    private static let maximumDataLength = 16_384

    /// Returns the attributes of the key tags, in order; empty if the media is not encrypted.
    static func keys(_ protections: [Descriptor]) -> [String] {
        guard !protections.isEmpty else { return [] }
        let common = protections.first { $0.scheme.lowercased() == commonScheme }
        let method = common?.shortValue?.lowercased().hasPrefix("cbc") == true ? "SAMPLE-AES" : "SAMPLE-AES-CTR"
        let keyID = protections.lazy.compactMap { $0.element[.contentProtectionDefaultKeyID] }.first
        var result: [String] = []
        for protection in protections {
            let data = text("pssh", in: protection)
            let key: (format: String, uri: String)? =
                switch protection.scheme.lowercased() {
                case widevine: data.map { (widevine, "data:text/plain;base64,\($0)") }
                case playReady:
                    text("pro", in: protection).map {
                        ("com.microsoft.playready", "data:text/plain;charset=UTF-16;base64,\($0)")
                    }
                case fairPlay: ("com.apple.streamingkeydelivery", "skd://\(keyID ?? "")")
                default: nil
                }
            guard let key else { continue }
            let attributes = Self.attributes(method, key.uri, key.format)
            if !result.contains(attributes) { result.append(attributes) }
        }
        guard result.isEmpty else { return result }
        return [attributes(method, "data:text/plain,\(keyID ?? "")", commonScheme)]
    }

    private static func attributes(_ method: String, _ uri: String, _ format: String) -> String {
        var attributes = AttributeWriter()
        attributes.append("METHOD", token: method)
        attributes.append("URI", address: uri)
        attributes.append("KEYFORMAT", quoted: format)
        attributes.append("KEYFORMATVERSIONS", quoted: "1")
        return attributes.text
    }

    /// Returns the text of an element of an extension without white space, or `nil` if it is missing or not base64.
    private static func text(_ name: String, in protection: Descriptor) -> String? {
        for child in protection.element.children.prefix(16) {
            guard child.name.local == name || child.name.local.hasSuffix(":\(name)"),
                child.text.utf8.count <= maximumDataLength
            else { continue }
            let bytes = child.text.utf8.filter { $0 > 0x20 }
            guard !bytes.isEmpty, bytes.allSatisfy(isBase64) else { continue }
            return String(decoding: bytes, as: UTF8.self)
        }
        return nil
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
            true
        default: false
        }
    }
}
