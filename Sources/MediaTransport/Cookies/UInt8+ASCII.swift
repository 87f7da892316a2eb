extension UInt8 {
    /// Whether it is a control character of ASCII, the tabulator among them.
    var isASCIIControl: Bool { self < 0x20 || self == 0x7F }
    /// Whether it is a decimal digit of ASCII.
    var isASCIIDigit: Bool { (0x30...0x39).contains(self) }
    /// The letter of ASCII in lower case; every other byte as it is.
    var asciiLowercased: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
}
