import MediaTiming
import XMLReading

/// The limits on the size and complexity of a manifest; a manifest that exceeds one is rejected.
package struct ManifestLimits: Sendable, Hashable {
    /// The maximum size, in bytes; 64 MiB by default, ten times the largest manifests of long live windows.
    package var byteCount: Int
    /// The maximum number of `S` elements; 2 million by default.
    package var timelineEntryCount: Int
    /// The maximum number of other elements; 400,000 by default.
    package var elementCount: Int
    /// The maximum number of attributes of all elements but `S`; 2 million by default, five for each element.
    package var attributeCount: Int
    /// The maximum length of a URL, and of an attribute of an element of the standard, in bytes; 64 KiB by default.
    ///
    /// Base URLs are repeated in the URL of each segment, and other values are read again for each representation. The
    /// attributes `value` and `messageData`, which can contain data, have no limit of their own.
    package var valueLength: Int
    /// The maximum nesting depth of elements; 64 by default.
    package var depth: Int
    /// The maximum number of diagnostics that are listed; the rest is counted.
    ///
    /// 1,000 by default.
    package var diagnosticCount: Int

    /// Creates limits with the given values.
    package init(
        byteCount: Int = 64 << 20,
        timelineEntryCount: Int = 2_000_000,
        elementCount: Int = 400_000,
        attributeCount: Int = 2_000_000,
        valueLength: Int = 64 << 10,
        depth: Int = 64,
        diagnosticCount: Int = 1_000
    ) {
        self.byteCount = byteCount
        self.timelineEntryCount = timelineEntryCount
        self.elementCount = elementCount
        self.attributeCount = attributeCount
        self.valueLength = valueLength
        self.depth = depth
        self.diagnosticCount = diagnosticCount
    }
}

extension ManifestLimits {
    /// The limits for the manifest as an XML document.
    var xmlLimits: XMLDocumentParser.Limits {
        XMLDocumentParser.Limits(
            maximumSize: byteCount,
            maximumDepth: depth,
            maximumElementCount: elementCount +| timelineEntryCount +| 1
        )
    }
}
