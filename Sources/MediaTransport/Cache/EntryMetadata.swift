import MediaTiming
package import NIOCore
import ResourceAddressing

/// The metadata of a stored response: everything except its body.
package struct EntryMetadata: Sendable, Equatable {
    var key: EntryKey
    var status: Int
    /// The URL of the resource after all redirects.
    var address: ResourceAddress
    /// The time at which the request was sent.
    var requested: UnixSeconds
    /// The time at which the head of the response was received.
    var received: UnixSeconds
    var headers: [HeaderField]

    /// Returns the values of a header field with the given lowercase name.
    func values(_ name: String) -> [String] {
        headers.lazy.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// Returns the first value of a header field with the given lowercase name.
    func value(_ name: String) -> String? { values(name).first }
}

extension EntryMetadata {
    /// Returns the serialized metadata.
    package func encoded() -> ByteBuffer {
        var buffer = ByteBuffer()
        buffer.writeText(key.address.text)
        buffer.writeInteger(key.byteRange?.start ?? -1)
        buffer.writeInteger(key.byteRange?.length ?? -1)
        buffer.writeInteger(Int64(status))
        buffer.writeText(address.text)
        buffer.writeInteger(requested.rawValue)
        buffer.writeInteger(received.rawValue)
        buffer.writeInteger(UInt32(clamping: headers.count))
        for field in headers {
            buffer.writeText(field.name)
            buffer.writeText(field.value)
        }
        return buffer
    }

    /// Creates metadata from the output of ``encoded()``; `nil` for any other bytes.
    package init?(_ buffer: ByteBuffer) {
        var buffer = buffer
        guard let keyAddress = buffer.readText(), let start = buffer.readInteger(as: Int64.self),
            let length = buffer.readInteger(as: Int64.self), let status = buffer.readInteger(as: Int64.self),
            let address = buffer.readText(), let requested = buffer.readInteger(as: Int64.self),
            let received = buffer.readInteger(as: Int64.self), let headerCount = buffer.readInteger(as: UInt32.self)
        else { return nil }
        var headers: [HeaderField] = []
        for _ in 0..<headerCount {
            guard let name = buffer.readText(), let value = buffer.readText() else { return nil }
            headers.append(HeaderField(name, value))
        }
        guard buffer.readableBytes == 0 else { return nil }
        key = EntryKey(address: ResourceAddress(keyAddress), byteRange: ByteRange(start: start, length: length))
        self.status = Int(clamping: status)
        self.address = ResourceAddress(address)
        self.requested = UnixSeconds(requested)
        self.received = UnixSeconds(received)
        self.headers = headers
    }
}

extension ByteBuffer {
    fileprivate mutating func writeText(_ text: String) {
        writeInteger(UInt32(clamping: text.utf8.count))
        writeString(text)
    }

    fileprivate mutating func readText() -> String? {
        guard let count = readInteger(as: UInt32.self), let length = Int(exactly: count) else { return nil }
        return readString(length: length)
    }
}
