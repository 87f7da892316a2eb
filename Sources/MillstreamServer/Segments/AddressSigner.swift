import Crypto
import Foundation
import HTTPTypes
package import MediaTransport

/// Signs addresses of this server with a key for one purpose: an HMAC with SHA-256 (RFC 2104) in base64url (RFC 4648 §5).
struct AddressSigner: Sendable {
    private let key: SymmetricKey

    /// Creates a signer; two with the same secret and purpose accept each other's signatures.
    init(_ secret: ServerSecret, purpose: String) { key = secret.key(for: purpose) }

    /// Returns the signature of the parts of an address.
    func signature(of parts: [String]) -> String {
        let code = HMAC<SHA256>.authenticationCode(for: Self.bytes(of: parts), using: key)
        return Data(code).base64EncodedString().filter { $0 != "=" }.replacing("+", with: "-").replacing("/", with: "_")
    }

    /// Returns whether a signature is valid for the parts of an address; the comparison takes constant time.
    func isValid(_ signature: String, for parts: [String]) -> Bool {
        guard signature.utf8.count == 43, !signature.utf8.contains(where: { "+/=".utf8.contains($0) }) else {
            return false
        }
        let text = signature.replacing("-", with: "+").replacing("_", with: "/") + "="
        guard let code = Data(base64Encoded: text) else { return false }
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.bytes(of: parts), using: key)
    }

    /// The bytes to sign: every part with its length before it, so that no two lists give the same bytes.
    private static func bytes(of parts: [String]) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts {
            bytes += withUnsafeBytes(of: UInt64(clamping: part.utf8.count).bigEndian) { Array($0) }
            bytes += part.utf8
        }
        return bytes
    }
}

/// The time until which an address that this server signed is valid.
package struct AddressExpiry: Sendable, Hashable {
    /// The name of the query item.
    static let name = "expires"

    /// The time; the address is invalid from then on.
    package let time: UnixSeconds

    /// The item of a query.
    var item: QueryItems.Item { QueryItems.Item(name: Self.name, value: String(time.rawValue)) }

    /// Creates an expiry at a time.
    package init(_ time: UnixSeconds) { self.time = time }

    /// Creates the expiry of a query; `nil` if it has none.
    ///
    /// - Throws: ``ServerError`` if the item is repeated, or if its value is not a number in its shortest form.
    init?(_ query: QueryItems) throws {
        let values = query.items.filter { $0.name == Self.name }.map(\.value)
        guard let value = values.first else { return nil }
        guard values.count == 1, let number = Int64(value), String(number) == value else {
            throw ServerError(.badRequest, "invalid-value", "expires must be a time in seconds since 1970, once")
        }
        time = UnixSeconds(number)
    }

    /// Verifies that the address has not expired.
    ///
    /// - Throws: ``ServerError`` with the status 403.
    func verify(at now: UnixSeconds) throws {
        guard now < time else {
            throw ServerError(
                .forbidden,
                "expired-address",
                "this address has expired",
                hint: "ask for a new one from where it came"
            )
        }
    }
}
