import DASHManifest
import ResourceAddressing

/// The server that steers clients between locations, whose answers have the form that RFC 8216bis §7.1 defines
/// (ETSI TS 103 998 §5).
struct SteeringServer {
    /// The URL of the server.
    let address: ResourceAddress
    /// The service location of the preferred base URL, which all variants have.
    let pathway: String

    /// Reads the content steering of a presentation; `nil` if it has none or names no server on the network.
    init?(_ presentation: MediaPresentation) {
        guard let element = presentation.contentSteering, !element.trimmedText.isEmpty else { return nil }
        let text = element.trimmedText
        address = presentation.address?.resolving(text) ?? ResourceAddress(text)
        guard address.isHTTP || !address.isAbsolute else { return nil }
        // Media is loaded from the first base URL, whatever the steering prefers at the start.
        let location = presentation.element.element(.baseURL)?[.serviceLocation] ?? element[.defaultServiceLocation]
        pathway = Self.identifier(location ?? "")
    }

    /// Returns the form of a service location that a pathway identifier allows (RFC 8216bis §4.4.6.2).
    private static func identifier(_ location: String) -> String {
        let allowed = location.utf8.prefix(64).filter { byte in
            PercentEncoding.unreservedBytes.contains(byte) && byte != UInt8(ascii: "~")
        }
        return allowed.isEmpty ? "." : String(decoding: allowed, as: UTF8.self)
    }
}
