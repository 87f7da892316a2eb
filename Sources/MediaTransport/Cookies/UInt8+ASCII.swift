extension UInt8 {
    /// A Boolean value that indicates whether the byte is an ASCII control character, including the tab.
    var isASCIIControl: Bool { self < 0x20 || self == 0x7F }
    /// A Boolean value that indicates whether the byte is an ASCII decimal digit.
    var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
    /// The lowercase form of an ASCII letter; any other byte is unchanged.
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
