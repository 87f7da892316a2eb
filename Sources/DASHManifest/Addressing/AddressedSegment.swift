package import MediaTiming
package import ResourceAddressing

/// A resource or a range of its bytes.
package struct AddressedResource: Sendable, Hashable {
    /// The URL of the resource.
    package let address: ResourceAddress
    /// The range of bytes, or `nil` for all of the resource.
    package let byteRange: ByteRange?

    /// Creates a reference to a resource.
    package init(address: ResourceAddress, byteRange: ByteRange? = nil) {
        self.address = address
        self.byteRange = byteRange
    }
}

/// A segment of a representation.
package struct AddressedSegment: Sendable, Hashable {
    /// The number of the segment.
    package let number: Int64
    /// The time of the segment in the media, in the units of the timescale.
    package let time: Int64
    /// The start relative to the start of the period.
    package let start: MediaTime
    /// The duration.
    package let duration: MediaTime
    /// The resource that contains the segment.
    package let resource: AddressedResource

    /// Creates a segment.
    package init(number: Int64, time: Int64, start: MediaTime, duration: MediaTime, resource: AddressedResource) {
        self.number = number
        self.time = time
        self.start = start
        self.duration = duration
        self.resource = resource
    }

    /// The end relative to the start of the period.
    package var end: MediaTime { start + duration }
}
